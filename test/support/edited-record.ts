import assert from 'node:assert/strict';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { keysOf } from './promise.ts';

/** The record in its bucket, changed behind the back of everything that wrote it, with all rights; and put right again. */
export class EditedRecord {
  readonly #store: Buckets;
  readonly #originals: ReadonlyMap<string, Buffer>;
  readonly #touched = new Set<string>();

  private constructor(store: Buckets, originals: ReadonlyMap<string, Buffer>) {
    this.#store = store;
    this.#originals = originals;
  }

  static async open(store: Buckets): Promise<EditedRecord> {
    const originals = new Map<string, Buffer>();
    for (const key of await keysOf(store, store.record))
      originals.set(key, (await store.getBytes(store.record, key)) ?? Buffer.alloc(0));
    return new EditedRecord(store, originals);
  }

  original(key: string): Buffer {
    return this.#originals.get(key) ?? assert.fail(`the record had no ${key}`);
  }

  /** Over what stands there: the store keeps the version before. */
  async put(key: string, bytes: Uint8Array | string): Promise<void> {
    this.#touched.add(key);
    await this.#store.put(this.#store.record, key, bytes);
  }

  /** In the place of what stands there, as one who can reach the store's disk does: no earlier version is left. */
  async rewrite(key: string, bytes: Uint8Array | string): Promise<void> {
    await this.remove(key);
    await this.put(key, bytes);
  }

  /** With all versions. */
  async remove(key: string): Promise<void> {
    this.#touched.add(key);
    const versions = await Array.fromAsync(this.#store.listVersions(this.#store.record, key));
    await this.#store.deleteVersions(
      this.#store.record,
      versions.filter((one) => one.key === key),
    );
  }

  /** Behind a deletion: the version stays beneath it. */
  async hide(key: string): Promise<void> {
    this.#touched.add(key);
    await this.#store.delete(this.#store.record, key);
  }

  /** By another way than this one: it is put right all the same. */
  touched(key: string): void {
    this.#touched.add(key);
  }

  async restore(): Promise<void> {
    for (const key of [...this.#touched]) {
      await this.remove(key);
      const original = this.#originals.get(key);
      if (original) await this.#store.put(this.#store.record, key, original);
    }
    this.#touched.clear();
  }
}
