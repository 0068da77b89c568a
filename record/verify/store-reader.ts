import type { RunId } from '@hotcell/contract/names.ts';
import type { Buckets } from '../buckets.ts';
import { earlierVersions } from '../earlier-versions.ts';
import { isOpen } from '../run-marks.ts';
import type { FoundKey, RecordReader } from './record-reader.ts';

/** The record in its bucket, with all versions. */
export class StoreReader implements RecordReader {
  readonly #store: Buckets;

  constructor(store: Buckets) {
    this.#store = store;
  }

  get name(): string {
    return `the bucket ${this.#store.record}`;
  }

  async *list(prefix: string): AsyncGenerator<FoundKey> {
    let last: FoundKey | undefined;
    for await (const one of this.#store.listVersions(this.#store.record, prefix)) {
      if (last && last.key !== one.key) yield last;
      const { key, size, modified, isLatest, isDeleteMarker } = one;
      if (last?.key !== key) last = { key, size, modified, versions: 0, hidden: false };
      if (isDeleteMarker) last.hidden ||= isLatest;
      else {
        // The oldest version is listed last: what was put first is when it was put.
        last.modified = modified;
        last.versions += 1;
      }
    }
    if (last) yield last;
  }

  folders(prefix: string): AsyncGenerator<string> {
    return this.#store.listFolders(this.#store.record, prefix);
  }

  isOpen(tenant: string, run: RunId): Promise<boolean> {
    return isOpen(this.#store, tenant, run);
  }

  earlierVersions(key: string): AsyncGenerator<Buffer> {
    return earlierVersions(this.#store, key);
  }

  async read(key: string, sink: (chunk: Uint8Array) => void): Promise<boolean> {
    const take = (chunk: Buffer) => {
      sink(chunk);
      return undefined;
    };
    return (await this.#store.bytes.read(this.#store.record, key, take, { flowing: true })) !== undefined;
  }
}
