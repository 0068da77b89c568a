import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Digest, hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { RootNote } from './root-note.ts';

/** What the operator installed for cells: nothing else can be in one. */
export class Installed {
  readonly #roots: string;
  readonly #profiles: ReadonlyMap<Digest, unknown>;

  constructor(roots: string, profilesFolder: string) {
    this.#roots = roots;
    const texts = readdirSync(profilesFolder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => readFileSync(join(profilesFolder, name), 'utf8'));
    this.#profiles = new Map(texts.map((text) => [sha256(text), JSON.parse(text)]));
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
    return { path: join(folder, 'root'), note };
  }

  profile(digest: Digest): unknown {
    const profile = this.#profiles.get(digest);
    if (profile !== undefined) return profile;
    const message = `The keeper has no seccomp profile ${digest}. Submit the run again, or run worker and keeper of the version that pinned the policy.`;
    throw new HotcellError('posture_differs', message);
  }
}
