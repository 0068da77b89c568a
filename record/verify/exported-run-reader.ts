import type { Result } from '@hotcell/contract/result.ts';
import { type ExportedRun, exportPaths, ownPaths, pathOf, resultIn } from '../export/export-layout.ts';
import { recordKeys } from '../layout.ts';
import type { LargeRoom } from './large-room.ts';
import { type FoundKey, type RecordReader, readWhole } from './record-reader.ts';

/** One run of an export, under the keys that its objects have in the record. */
export class ExportedRunReader implements RecordReader {
  readonly at: ExportedRun;
  readonly result: Result | undefined;
  readonly #files: RecordReader;
  readonly #own: ReadonlyMap<string, string>;
  readonly #read = new Set<string>();

  private constructor(files: RecordReader, at: ExportedRun, result: Result | undefined) {
    this.#files = files;
    this.at = at;
    this.result = result;
    this.#own = ownPaths(at, result);
  }

  static async of(files: RecordReader, at: ExportedRun, room?: LargeRoom): Promise<ExportedRunReader> {
    const bytes = await readWhole(files, exportPaths.committed(at.run), room);
    return new ExportedRunReader(files, at, bytes && resultIn(bytes, at));
  }

  get name(): string {
    return this.#files.name;
  }

  async *list(prefix: string): AsyncGenerator<FoundKey> {
    for await (const found of this.#files.list(exportPaths.run(this.at.run))) {
      const key = this.#keyOf(found.key);
      if (key?.startsWith(prefix)) yield { ...found, key };
    }
  }

  /** A run has nothing below it that is listed by folders. */
  async *folders(): AsyncGenerator<string> {}

  async read(key: string, sink: (chunk: Uint8Array) => void): Promise<boolean> {
    const path = pathOf(key, this.at, this.#own);
    this.#read.add(path);
    return await this.#files.read(path, sink);
  }

  /** With the places in the export instead of the keys of the record: it is those that a reader of an export looks up. */
  inPlaces(text: string): string {
    const { tenant, run } = this.at;
    let said = text;
    for (const [key, path] of this.#own) said = said.replaceAll(key, path);
    return said.replaceAll(recordKeys.run(tenant, run), exportPaths.rest(run));
  }

  /** Whether an object of the record stands there. */
  hasPlace(path: string): boolean {
    return path.startsWith(exportPaths.rest(this.at.run)) || [...this.#own.values()].includes(path);
  }

  /** Whether a verification asked for it: then it is what was signed, or a finding. */
  wasRead(path: string): boolean {
    return this.#read.has(path);
  }

  /** The key of a file of this run's folder; undefined for a copy of what stands elsewhere. */
  #keyOf(path: string): string | undefined {
    const { tenant, run } = this.at;
    const own = recordKeys.run(tenant, run);
    for (const [key, at] of this.#own) if (at === path && key.startsWith(own)) return key;
    const rest = exportPaths.rest(run);
    return path.startsWith(rest) ? `${own}${path.slice(rest.length)}` : undefined;
  }
}
