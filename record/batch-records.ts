import type { BatchChunk, BatchEnds, BatchHead, BatchItem, BatchProgress, ItemEnd } from '@hotcell/contract/batch.ts';
import type { EvidenceBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { RunId } from '@hotcell/contract/names.ts';
import type { Buckets } from './buckets.ts';
import { recordKeys, workKeys } from './layout.ts';
import { objects } from './objects.ts';
import { put, putFirst, readStored, readValue, type Stored, swap } from './read-write.ts';

export type StoredBatch = Pick<Stored<BatchHead>, 'value' | 'etag'>;
export type StoredProgress = Pick<Stored<BatchProgress>, 'value' | 'etag'>;

/** Which batch. */
export interface BatchPlace {
  tenant: string;
  batch: RunId;
}

export async function readBatch(store: Buckets, { tenant, batch }: BatchPlace): Promise<StoredBatch | undefined> {
  return await readStored(store, objects.batch, tenant, batch);
}

/** Over exactly the version that was read, or where nothing was; `conflict` if another was faster. */
export async function putBatch(
  store: Buckets,
  head: BatchHead,
  before: Pick<StoredBatch, 'etag'> | undefined,
): Promise<StoredBatch> {
  return { value: head, etag: await swap(store, objects.batch, head, before, head.tenant, head.batch) };
}

/** The batches of a tenant, the newest first. */
export async function* batchesOf(store: Buckets, tenant: string, after?: RunId): AsyncGenerator<RunId> {
  const prefix = recordKeys.batchHeads(tenant);
  const from = after === undefined ? {} : { after: recordKeys.batchHead(tenant, after) };
  for await (const { key } of store.list(store.record, prefix, { ...from, pageSize: listedAtOnce })) {
    const id = RunId.safeParse(key.slice(prefix.length + orderLetters, -'.json'.length));
    if (id.success) yield id.data;
  }
}

const listedAtOnce = 100;
const orderLetters = 13;

export async function readProgress(store: Buckets, { tenant, batch }: BatchPlace): Promise<StoredProgress | undefined> {
  return await readStored(store, objects.batchProgress, tenant, batch);
}

export async function putProgress(
  store: Buckets,
  { tenant, batch }: BatchPlace,
  progress: BatchProgress,
  before: Pick<StoredProgress, 'etag'> | undefined,
): Promise<StoredProgress> {
  return { value: progress, etag: await swap(store, objects.batchProgress, progress, before, tenant, batch) };
}

/** What was written down first stays: a list that is made again is the same. */
export async function putChunk(
  store: Buckets,
  { tenant, batch }: BatchPlace,
  chunk: number,
  items: readonly BatchItem[],
): Promise<void> {
  const value: BatchChunk = { version: 1, items: [...items] };
  await putFirst(store, objects.batchChunk, value, tenant, batch, chunk);
}

export async function readChunk(
  store: Buckets,
  { tenant, batch }: BatchPlace,
  chunk: number,
): Promise<BatchItem[] | undefined> {
  return (await readValue(store, objects.batchChunk, tenant, batch, chunk))?.items;
}

export interface ChunkPlace extends BatchPlace {
  round: number;
  chunk: number;
}

/** Answers the ends that stand: another leader may have been faster. */
export async function putEnds(
  store: Buckets,
  { tenant, batch, round, chunk }: ChunkPlace,
  ends: readonly ItemEnd[],
): Promise<ItemEnd[]> {
  const value: BatchEnds = { version: 1, ends: [...ends] };
  return (await putFirst(store, objects.batchEnds, value, tenant, batch, round, chunk)).ends;
}

/** What became of the items of a chunk, as this round wrote it down. */
export async function readEnds(
  store: Buckets,
  { tenant, batch, round, chunk }: ChunkPlace,
): Promise<ItemEnd[] | undefined> {
  return (await readValue(store, objects.batchEnds, tenant, batch, round, chunk))?.ends;
}

/** As the newest round until this one wrote it down. */
export async function lastEnds(store: Buckets, place: ChunkPlace): Promise<ItemEnd[] | undefined> {
  for (let { round } = place; round >= 0; round--) {
    const ends = await readEnds(store, { ...place, round });
    if (ends) return ends;
  }
  return undefined;
}

/** In parts, as its lines come. Answers its key. */
export async function uploadManifest(
  store: Buckets,
  { tenant, batch, round }: OpenRound,
  lines: AsyncIterable<Uint8Array>,
): Promise<string> {
  const key = recordKeys.batchManifest(tenant, batch, round);
  await store.upload(store.record, key, lines);
  return key;
}

/** Signed by its leader. Another leader may have signed the same before: then its signature stands. */
export async function putBatchEvidence(
  store: Buckets,
  { tenant, batch, round }: OpenRound,
  bundle: EvidenceBundle,
): Promise<{ key: string; stands: EvidenceBundle }> {
  const stands = await putFirst(store, objects.batchEvidence, bundle, tenant, batch, round);
  return { key: recordKeys.batchEvidence(tenant, batch, round), stands };
}

export interface OpenRound extends BatchPlace {
  round: number;
}

/** The promise that a leader goes on with it. */
export async function markBatchOpen(store: Buckets, { tenant, batch, round }: OpenRound): Promise<void> {
  const mark = { version: 1, tenant, batch, at: new Date().toISOString() } as const;
  await put(store, objects.openBatch, mark, tenant, batch, round);
}

export async function unmarkBatch(store: Buckets, { tenant, batch, round }: OpenRound): Promise<void> {
  await store.delete(store.work, workKeys.openBatch(tenant, batch, round));
}

/** The batches that go on: of one tenant, or of all. */
export async function* openBatches(store: Buckets, tenant?: string): AsyncGenerator<OpenRound> {
  const prefix = tenant === undefined ? workKeys.openBatches : workKeys.openBatchesOf(tenant);
  for await (const { key } of store.list(store.work, prefix)) {
    const [, of = '', id, round] = key.split('/');
    const batch = RunId.safeParse(id);
    if (batch.success && /^\d{1,4}$/.test(round ?? '')) yield { tenant: of, batch: batch.data, round: Number(round) };
  }
}

/** The snapshots that batches are over which go on: no run may point to them yet. */
export async function* snapshotsOfBatches(
  store: Buckets,
  tenant: string,
): AsyncGenerator<{ snapshot: Digest; locations: Digest }> {
  for await (const open of openBatches(store, tenant)) {
    const pinned = (await readBatch(store, open))?.value.pinned;
    if (pinned) yield pinned;
  }
}
