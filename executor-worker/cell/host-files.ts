import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Mount } from './cell-plan.ts';
import { hostname } from './options.ts';

/** cell-init on the host. Its digest is taken anew when the file was replaced: a build replaces it as a whole. */
export class InitFile {
  readonly path: string;
  #seen: { mark: string; digest: Digest } | undefined;

  constructor(stateDir: string) {
    this.path = join(stateDir, 'init', 'cell-init');
  }

  async digest(): Promise<Digest> {
    try {
      const { ino, mtimeMs, size } = await stat(this.path);
      const mark = `${ino} ${mtimeMs} ${size}`;
      if (this.#seen?.mark !== mark) this.#seen = { mark, digest: sha256(await readFile(this.path)) };
      return this.#seen.digest;
    } catch (cause) {
      const message = `There is no cell-init at ${this.path}. Build it: ./hotcell image build cell-init`;
      throw new HotcellError('cell_failed', message, { cause });
    }
  }
}

/** Files in place of the image's: they name no host and no resolver, and the job's user. */
function contents(uid: number): Readonly<Record<string, string>> {
  return {
    hosts: '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n',
    hostname: `${hostname}\n`,
    'resolv.conf': '# This cell has no network: nothing is resolved.\n',
    passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\njob:x:${uid}:${uid}:job:/work:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
    group: `root:x:0:\njob:x:${uid}:\nnogroup:x:65534:\n`,
  };
}

export const folderOfCells = (stateDir: string) => join(stateDir, 'cells');

/**
 * A cell's own folder on the host, mounted read-only into it. Written synchronously: handing a few small files to a
 * thread costs more than writing them.
 */
export function makeFolder(stateDir: string, id: string, uid: number): Mount[] {
  const folder = join(folderOfCells(stateDir), id);
  mkdirSync(join(folder, 'inputs'), { recursive: true, mode: 0o755 });
  const files = Object.entries(contents(uid));
  for (const [name, text] of files) writeFileSync(join(folder, name), text, { mode: 0o444 });
  return files.map(([name]) => ({ source: join(folder, name), target: `/etc/${name}` }));
}

/** The empty `/inputs` of a run without inputs. */
export function noInputs(stateDir: string, id: string): Mount {
  return { source: join(folderOfCells(stateDir), id, 'inputs'), target: '/inputs' };
}

export function removeFolder(stateDir: string, id: string): void {
  rmSync(join(folderOfCells(stateDir), id), { recursive: true, force: true });
}
