import { lstatSync, opendirSync } from 'node:fs';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';

/** More than this is no image, but a bomb. */
export const mostImage: Most = { bytes: 64 * 1024 ** 3, entries: 4_000_000 };

interface Most {
  bytes: number;
  entries: number;
}

/**
 * What an image may unpack to, over all its layers. Files count with their whole sizes, also where they are holes: a hole
 * takes no room on the disk, but its bytes are hashed like any others.
 */
export class UnpackBounds {
  readonly #most: Most;
  #bytes = 0;
  #entries = 0;

  constructor(most: Most = mostImage) {
    this.#most = most;
  }

  /** Counts what was unpacked into a folder, until it is too much. No link is followed. */
  count(folder: string): void {
    using found = opendirSync(folder);
    for (let entry = found.readSync(); entry; entry = found.readSync()) {
      const path = join(folder, entry.name);
      this.#entries++;
      if (entry.isFile()) this.#bytes += lstatSync(path).size;
      this.#refuse();
      if (entry.isDirectory()) this.count(path);
    }
  }

  #refuse(): void {
    const { bytes, entries } = this.#most;
    if (this.#bytes > bytes)
      throw new HotcellError('invalid', `The image unpacks to more than ${bytes} bytes. Build a smaller one.`);
    if (this.#entries > entries)
      throw new HotcellError(
        'invalid',
        `The image unpacks to more than ${entries} entries. Build it with fewer files.`,
      );
  }
}
