import { constants, type Dirent } from 'node:fs';
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FoundKey, Oddity, RecordReader } from './record-reader.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Nothing that can be read as a file stands under the key: nothing at all, a folder, a link, or a socket. */
const noObject = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENXIO', 'ENAMETOOLONG']);

function kindOf(entry: Dirent): string {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'a link' : 'neither a file nor a folder';
}

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
    for (const { name, kind } of await this.#entries(prefix)) if (kind === 'folder') yield `${prefix}${name}/`;
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
    for (const { name, kind } of await this.#entries(folder)) {
      if (kind === 'folder') yield* this.#filesUnder(`${folder}${name}/`);
      else if (kind === 'file') yield `${folder}${name}`;
    }
  }

  async *oddities(folder = ''): AsyncGenerator<Oddity> {
    for (const { name, kind } of await this.#entries(folder)) {
      if (kind === 'folder') yield* this.oddities(`${folder}${name}/`);
      else if (kind !== 'file') yield { key: `${folder}${name}`, kind };
    }
  }

  async #entries(folder: string): Promise<{ name: string; kind: string }[]> {
    const found: { name: string; kind: string }[] = [];
    try {
      for await (const entry of await opendir(this.#path(folder)))
        found.push({ name: entry.name, kind: kindOf(entry) });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
    return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }
}
