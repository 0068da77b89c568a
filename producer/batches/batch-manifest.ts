import { createHash } from 'node:crypto';
import { chunksOf, fateOf, firstOfChunk } from '@hotcell/contract/batch-items.ts';
import { type BatchCounts, chunkItems, type ItemEnd } from '@hotcell/contract/batch.ts';
import { canonical, type Digest } from '@hotcell/contract/digest.ts';
import { type ChunkPlace, lastEnds, uploadManifest } from '@hotcell/record/batch-records.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { type KnownBatch, noCounts } from './known-batch.ts';

type Place = Omit<ChunkPlace, 'chunk'>;

/** What became of each item, in their order; one that no round began was skipped. */
export async function* endsOfBatch(store: Buckets, place: Place, items: number, from = 0): AsyncGenerator<ItemEnd[]> {
  for (let chunk = from; chunk < chunksOf(items); chunk++)
    yield (await lastEnds(store, { ...place, chunk })) ?? skippedEnds(place.round, chunk, items);
}

function skippedEnds(round: number, chunk: number, items: number): ItemEnd[] {
  const first = firstOfChunk(chunk);
  const none = { run: null, outcome: null, exitCode: null, result: null, outputs: null };
  const reason = 'The batch ended before it was begun.';
  return Array.from({ length: Math.min(chunkItems, items - first) }, (_, at) => {
    return { item: first + at, round, ...none, reason };
  });
}

export interface BatchManifest {
  key: string;
  sha256: Digest;
  bytes: number;
  counts: BatchCounts;
}

/** Writes the results of all items as one object: a canonical line for each. It is never in memory as a whole. */
export async function putManifest(
  store: Buckets,
  { head, round, items }: KnownBatch,
  keep: () => Promise<void>,
): Promise<BatchManifest> {
  const { tenant, batch } = head.value;
  const hash = createHash('sha256');
  const counts = { ...noCounts };
  let bytes = 0;
  const lines = async function* () {
    for await (const ends of endsOfBatch(store, { tenant, batch, round }, items)) {
      await keep();
      for (const end of ends) counts[fateOf(end)] += 1;
      const text = Buffer.from(ends.map((end) => `${canonical(end)}\n`).join(''));
      hash.update(text);
      bytes += text.length;
      yield text;
    }
  };
  const key = await uploadManifest(store, { tenant, batch, round }, lines());
  return { key, sha256: `sha256:${hash.digest('hex')}`, bytes, counts };
}
