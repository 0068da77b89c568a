import { chunkOfItem, chunksOf, fateOf, firstOfChunk, itemRunId } from '@hotcell/contract/batch-items.ts';
import {
  type BatchCounts,
  type BatchHead,
  type BatchItem,
  type BatchProgress,
  type BatchRound,
  chunkItems,
  type ItemEnd,
} from '@hotcell/contract/batch.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import {
  type ChunkPlace,
  lastEnds,
  readChunk,
  readEnds,
  readProgress,
  type StoredBatch,
  type StoredProgress,
} from '@hotcell/record/batch-records.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';

const readsAtOnce = 16;

/** Items that are worked on together. */
interface OpenChunk {
  /** Those that have no run yet; in the place of others stands nothing of theirs. */
  items: (BatchItem | undefined)[];
  /** What became of them in rounds before. */
  before: readonly ItemEnd[] | undefined;
  /** What is known to have become of each; those of rounds before that succeeded, too. */
  ends: (ItemEnd | undefined)[];
  left: number;
}

/** A batch as its leader knows it in one round. The record may be newer: then a write fails, and it is read again. */
export interface KnownBatch {
  head: StoredBatch;
  round: number;
  items: number;
  progress: StoredProgress | undefined;
  chunks: Map<number, OpenChunk>;
  /** Those that go on, the one that was looked at least lately first. */
  open: Map<RunId, number>;
  /** Items that a leader before may have begun. */
  unsure: number[];
  /** Items that no leader has tried, although it is written down that they may have been begun. */
  fresh: number[];
  /** Why none is begun at the moment. */
  problem?: BatchProgress['problem'];
  /** The first item of the chunks that were not looked at. */
  next: number;
  /** Of this round. */
  counts: BatchCounts;
  /** Runs of which a message says that they have ended. */
  heard: Set<RunId>;
  cancelled: Set<RunId>;
  /** From now on, the end of this run is heard. */
  listen: (run: RunId) => void;
  /** Until then none is begun: something was full. */
  heldUntil: number;
  /** When runs were looked at whose end no message told. */
  lookedAt: number;
  /** When the head was read. */
  readAt: number;
}

export const noCounts: BatchCounts = { succeeded: 0, failed: 0, cancelled: 0, skipped: 0 };

export function roundOf({ rounds, batch }: BatchHead, round: number): BatchRound {
  const found = rounds[round];
  if (!found) throw new HotcellError('record_damaged', `The batch ${batch} has no round ${round}.`);
  return found;
}

/** Reads what is known of the round: of chunks that are done their ends, and which items may have been begun. */
export async function knowBatch(
  store: Buckets,
  head: StoredBatch,
  { round, items, listen }: Pick<KnownBatch, 'round' | 'items' | 'listen'>,
): Promise<KnownBatch> {
  const progress = await readProgress(store, head.value);
  const begun = progress?.value.round === round ? progress.value.begun : 0;
  const known: KnownBatch = {
    ...{ head, round, items, listen, progress, chunks: new Map(), open: new Map(), unsure: [], fresh: [], next: begun },
    ...{
      counts: { ...noCounts },
      heard: new Set(),
      cancelled: new Set(),
      heldUntil: 0,
      lookedAt: 0,
      readAt: Date.now(),
    },
  };
  await inLanes(readsAtOnce, Array.from({ length: chunksOf(begun) }).keys(), async (chunk) => {
    const ends = await readEnds(store, placeOf(known, chunk));
    if (ends) for (const end of ends) countEnd(known, end);
    else known.unsure.push(...(await openChunk(store, known, chunk)));
  });
  known.unsure.sort((a, b) => a - b);
  return known;
}

export function placeOf({ head, round }: Pick<KnownBatch, 'head' | 'round'>, chunk: number): ChunkPlace {
  return { ...head.value, round, chunk };
}

/** Answers the items of it that this round has to run. */
export async function openChunk(store: Buckets, known: KnownBatch, chunk: number): Promise<number[]> {
  const { head, round, items: all } = known;
  const [items, before] = await Promise.all([
    readChunk(store, head.value, chunk),
    round > 0 ? lastEnds(store, { ...head.value, round: round - 1, chunk }) : undefined,
  ]);
  const count = Math.min(chunkItems, all - firstOfChunk(chunk));
  if (items?.length !== count)
    throw new HotcellError('record_damaged', `The batch ${head.value.batch} has no list of items ${chunk}.`);
  const ends = items.map((_, at) => (before?.[at]?.outcome === 'succeeded' ? before[at] : undefined));
  const left = ends.flatMap((end, at) => (end ? [] : [firstOfChunk(chunk) + at]));
  if (left.length > 0) known.chunks.set(chunk, { items, before, ends, left: left.length });
  return left;
}

export function itemIn({ chunks }: KnownBatch, item: number): BatchItem {
  return chunks.get(chunkOfItem(item))?.items[item % chunkItems] ?? {};
}

/** It is accepted: what it was given stands in its spec now. */
export function dropItem({ chunks }: KnownBatch, item: number): void {
  const chunk = chunks.get(chunkOfItem(item));
  if (chunk) chunk.items[item % chunkItems] = undefined;
}

/** Its run is accepted, or about to be. */
export function openRun(known: KnownBatch, run: RunId, item: number): void {
  known.listen(run);
  known.open.set(run, item);
}

export function runOf({ head, round }: KnownBatch, item: number): RunId {
  return itemRunId(head.value, round, item);
}

/** Notes what became of an item. True if it was the last of its chunk. */
export function noteEnd(known: KnownBatch, end: ItemEnd): boolean {
  const chunk = known.chunks.get(chunkOfItem(end.item));
  const at = end.item % chunkItems;
  if (!chunk || chunk.ends[at]) return false;
  chunk.ends[at] = end;
  chunk.left -= 1;
  countEnd(known, end);
  return chunk.left === 0;
}

/** Those of rounds before were counted then. */
function countEnd({ counts, round }: KnownBatch, end: ItemEnd): void {
  if (end.round === round) counts[fateOf(end)] += 1;
}

/** How many items of this round ended, were begun or not. */
export const endedIn = ({ counts }: Pick<KnownBatch, 'counts'>) => counts.succeeded + counts.failed + counts.cancelled;
