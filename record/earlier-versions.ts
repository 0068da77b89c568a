import type { Buckets } from './buckets.ts';

/** The bytes of a record object's versions that a later version or a deletion hides. */
export async function* earlierVersions(store: Buckets, key: string): AsyncGenerator<Buffer> {
  for await (const one of store.listVersions(store.record, key)) {
    if (one.key !== key || one.isLatest || one.isDeleteMarker) continue;
    const chunks: Buffer[] = [];
    const take = (chunk: Buffer) => {
      // The store's answer may use the same memory for its next chunk.
      chunks.push(Buffer.from(chunk));
      return undefined;
    };
    const found = await store.bytes.read(store.record, key, take, { versionId: one.versionId });
    if (found) yield Buffer.concat(chunks);
  }
}
