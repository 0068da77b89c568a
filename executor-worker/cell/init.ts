import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';

/** cell-init as it lies on the host, and what it is. Read again when it was replaced: a build puts it in place whole. */
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
      throw new HotcellError(
        'cell_failed',
        `there is no cell-init at ${this.path}: build it (image build cell-init does)`,
        { cause },
      );
    }
  }
}
