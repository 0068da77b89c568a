import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { endOfTar, headerOf, paddingOf } from './tar-format.ts';

/** Writes an archive to a file, whole or not at all. Memory holds one chunk, and a file that is slow holds up its reader. */
export class TarWriter implements AsyncDisposable {
  readonly #path: string;
  readonly #part: string;
  readonly #file: FileHandle;
  #isWhole = false;
  bytes = 0;

  private constructor(path: string, part: string, file: FileHandle) {
    this.#path = path;
    this.#part = part;
    this.#file = file;
  }

  static async create(path: string): Promise<TarWriter> {
    const part = `${path}.${process.pid}.part`;
    return new TarWriter(path, part, await open(part, 'wx', 0o644));
  }

  async add(path: string, modified: Date, bytes: Uint8Array): Promise<void> {
    await this.addStream(path, modified, bytes.length, [bytes]);
  }

  async addStream(
    path: string,
    modified: Date,
    size: number,
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<void> {
    await this.#write(headerOf({ path, size, modified }));
    let written = 0;
    for await (const chunk of chunks) {
      written += chunk.length;
      if (written > size) break;
      await this.#write(chunk);
    }
    if (written !== size)
      throw new HotcellError(
        'store_unavailable',
        `${path} was announced with ${size} bytes and came with another number. Try again.`,
      );
    await this.#write(Buffer.alloc(paddingOf(size)));
  }

  /** Only after this there is an archive under its name. */
  async finish(): Promise<void> {
    await this.#write(endOfTar);
    await this.#file.sync();
    await rename(this.#part, this.#path);
    this.#isWhole = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
    if (!this.#isWhole) await rm(this.#part, { force: true });
  }

  async #write(bytes: Uint8Array): Promise<void> {
    // Not `write`, which may write only a part.
    await this.#file.appendFile(bytes);
    this.bytes += bytes.length;
  }
}
