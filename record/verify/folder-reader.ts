import { constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FoundKey, RecordReader } from './record-reader.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Nothing that can be read as a file stands under the key: nothing at all, a folder, a link, or a socket. */
const noObject = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENXIO', 'ENAMETOOLONG']);

/** A copy of the record's bucket in a folder. It has no versions and no deletions to show. */
export class FolderReader implements RecordReader {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  get name(): string {
    return `the folder ${this.#root}`;
  }

  async *list(prefix: string): AsyncGenerator<FoundKey> {
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    for await (const key of this.#filesUnder(folder)) {
      if (!key.startsWith(prefix)) continue;
      const { size } = await lstat(join(this.#root, key));
      // When a copy was made says nothing of when its original was.
      yield { key, size, modified: undefined, versions: 1, hidden: false };
    }
  }

  async *folders(prefix: string): AsyncGenerator<string> {
    for (const { name, isFolder } of await this.#entries(prefix)) if (isFolder) yield `${prefix}${name}/`;
  }

  async read(key: string, sink: (chunk: Uint8Array) => void): Promise<boolean> {
    await using file = await this.#opened(key);
    if (!file || !(await file.stat()).isFile()) return false;
    for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) sink(chunk);
    return true;
  }

  /** A copy may have a pipe or a link to a device in the place of an object. Reading one would never end. */
  async #opened(key: string): Promise<FileHandle | undefined> {
    try {
      return await open(this.#path(key), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch (error) {
      if (noObject.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw error;
    }
  }

  /** A key comes from what is verified: it never leads out of the folder. */
  #path(key: string): string {
    return join(this.#root, ...key.split('/').filter((part) => part !== '' && part !== '.' && part !== '..'));
  }

  async *#filesUnder(folder: string): AsyncGenerator<string> {
    for (const { name, isFolder } of await this.#entries(folder)) {
      if (isFolder) yield* this.#filesUnder(`${folder}${name}/`);
      else yield `${folder}${name}`;
    }
  }

  async #entries(folder: string): Promise<{ name: string; isFolder: boolean }[]> {
    const found: { name: string; isFolder: boolean }[] = [];
    try {
      for await (const entry of await opendir(this.#path(folder)))
        if (entry.isFile() || entry.isDirectory()) found.push({ name: entry.name, isFolder: entry.isDirectory() });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
    return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }
}
