import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type TarPlace, tarIndex } from '../export/tar-index.ts';
import type { FoundKey, RecordReader } from './record-reader.ts';

const chunkBytes = 256 * 1024;

/** A copy of a record, or an export, in an archive. Nothing is unpacked: each file is read from its place. */
export class TarReader implements RecordReader, AsyncDisposable {
  readonly name: string;
  readonly #file: FileHandle;
  readonly #files: ReadonlyMap<string, TarPlace>;
  readonly #sorted: readonly string[];

  private constructor(name: string, file: FileHandle, files: ReadonlyMap<string, TarPlace>) {
    this.name = name;
    this.#file = file;
    this.#files = files;
    this.#sorted = [...files.keys()].toSorted();
  }

  static async open(path: string): Promise<TarReader> {
    const file = await open(path, constants.O_RDONLY);
    try {
      return new TarReader(`the archive ${path}`, file, await tarIndex(file, path));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }

  async *list(prefix: string): AsyncGenerator<FoundKey> {
    for (let at = this.#from(prefix); ; at++) {
      const key = this.#sorted[at];
      if (key === undefined || !key.startsWith(prefix)) return;
      yield { key, size: this.#files.get(key)?.size ?? 0, modified: undefined, versions: 1, hidden: false };
    }
  }

  async *folders(prefix: string): AsyncGenerator<string> {
    let last: string | undefined;
    for await (const { key } of this.list(prefix)) {
      const end = key.indexOf('/', prefix.length);
      const folder = key.slice(0, end + 1);
      if (end < 0 || folder === last) continue;
      last = folder;
      yield folder;
    }
  }

  async read(key: string, sink: (chunk: Uint8Array) => void): Promise<boolean> {
    const place = this.#files.get(key);
    if (!place) return false;
    const buffer = Buffer.alloc(Math.min(place.size, chunkBytes));
    for (let done = 0; done < place.size; ) {
      const wanted = Math.min(buffer.length, place.size - done);
      const { bytesRead } = await this.#file.read(buffer, 0, wanted, place.at + done);
      // The archive was cut while it is read: the digest tells.
      if (bytesRead === 0) return true;
      sink(buffer.subarray(0, bytesRead));
      done += bytesRead;
    }
    return true;
  }

  /** The first name that is not before the prefix. */
  #from(prefix: string): number {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? '') < prefix) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
