import { readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { CellRuntime } from '@hotcell/contract/cell-shape.ts';
import { type Digest, hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { RootNote } from './root-note.ts';

const touchMs = 60 * 60_000;

/** What the operator installed for cells: nothing else can be in one. */
export class Installed {
  readonly #roots: string;
  readonly #profiles: ReadonlyMap<Digest, { file: string; profile: unknown }>;
  readonly #machine: string;
  readonly #touched = new Map<Digest, number>();

  constructor(roots: string, profilesFolder: string, machine: string) {
    this.#roots = roots;
    this.#machine = machine;
    const files = readdirSync(profilesFolder).filter((name) => name.endsWith('.json'));
    this.#profiles = new Map(
      files.map((file) => {
        const text = readFileSync(join(profilesFolder, file), 'utf8');
        return [sha256(text), { file, profile: JSON.parse(text) as unknown }];
      }),
    );
  }

  /** Read anew each time: images come while the keeper runs. */
  root(image: Digest): { path: string; note: RootNote } {
    const folder = join(this.#roots, hexOf(image));
    let text: string;
    try {
      text = readFileSync(join(folder, 'note.json'), 'utf8');
    } catch (cause) {
      const message = `The image ${image} is not installed on this host. Run ./hotcell up there, which installs the images of the lock.`;
      throw new HotcellError('image_missing', message, { cause });
    }
    const note = parseJsonAs(RootNote, text, `the note of the image ${image}`, 'cell_failed');
    if (note.image !== image)
      throw new HotcellError('cell_failed', `The root in ${folder} is of the image ${note.image}. Remove that folder.`);
    if (note.refused !== null)
      throw new HotcellError(
        'image_refused',
        `Cells can't use the image ${image}: ${note.refused}. Build it without that.`,
      );
    this.#touch(image, folder);
    return { path: join(folder, 'root'), note };
  }

  /** For those who remove what nothing uses: the folder's time says when it was used last, to the hour. */
  #touch(image: Digest, folder: string): void {
    const now = Date.now();
    if (now - (this.#touched.get(image) ?? 0) < touchMs) return;
    this.#touched.set(image, now);
    try {
      utimesSync(folder, now / 1000, now / 1000);
    } catch {
      // The folder of roots may be read-only here: then its owner collects nothing.
    }
  }

  /** That of this runtime alone: what gVisor's own kernel may be asked, the host's kernel may not. */
  profile(digest: Digest, runtime: CellRuntime): unknown {
    const found = this.#profiles.get(digest);
    if (found?.file === `${runtime}-${this.#machine}.json`) return found.profile;
    const message = `The keeper has no seccomp profile ${digest} for ${runtime}. Submit the run again, or run worker and keeper of the version that pinned the policy.`;
    throw new HotcellError('posture_differs', message);
  }
}
