import type { Batch, BatchItemView } from '@hotcell/contract/api/batches.ts';
import { estimateOf, rateOf } from '@hotcell/contract/batch-rate.ts';
import { chunksOf, firstOfChunk, itemRunId } from '@hotcell/contract/batch-items.ts';
import { type BatchCounts, type BatchHead, chunkItems } from '@hotcell/contract/batch.ts';
import { counted } from '@hotcell/contract/format.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { lastEnds, readEnds, readProgress } from '@hotcell/record/batch-records.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { isOpen } from '@hotcell/record/run-marks.ts';
import type { Producer } from '../producer.ts';
import { lastRound } from './change-batch.ts';
import { noCounts } from './known-batch.ts';

/** How far it is, as its leader last wrote it down. */
export async function showBatch(store: Buckets, head: BatchHead): Promise<Batch> {
  const round = lastRound(head);
  const stored = round.ended ? undefined : (await readProgress(store, head))?.value;
  const progress = stored?.round === head.rounds.length - 1 ? stored : undefined;
  const { ended, carried, cancelled } = round;
  const sofar = progress?.counts ?? noCounts;
  const counts = ended?.counts ?? { ...sofar, succeeded: carried + sofar.succeeded };
  const all = counts.succeeded + counts.failed + counts.cancelled + counts.skipped;
  const running = progress?.open ?? 0;
  const waiting = ended ? 0 : Math.max(0, (head.items ?? 0) - all - running);
  const done = sofar.succeeded + sofar.failed + sofar.cancelled;
  const rate = progress && rateOf(progress.samples, done, Date.parse(progress.at));
  return {
    ...{ batch: head.batch, name: head.name ?? null, ...stateOf(head, counts), items: head.items ?? null, counts },
    ...{ running, waiting, ratePerSecond: rate ?? null },
    estimate: ended ? null : estimateOf(rate, running + waiting, Date.now()),
    ...(progress?.problem && !ended && { problem: progress.problem }),
    ...{ rules: head.rules, round: head.rounds.length - 1, author: head.author, policy: head.policy },
    ...(head.callback !== undefined && { callback: head.callback }),
    ...{ image: head.image, over: head.pinned?.snapshot ?? null, createdAt: head.createdAt },
    ...{ endedAt: ended?.at ?? null, ...(cancelled && { cancelled }), ...endingOf(head) },
  };
}

function endingOf(head: BatchHead): Pick<Batch, 'manifest' | 'evidence' | 'published'> {
  const { manifest, evidence, published } = lastRound(head).ended ?? {};
  const name = head.rules.publish;
  return {
    ...(manifest && { manifest: { sha256: manifest.sha256, bytes: manifest.bytes } }),
    ...(evidence && { evidence: { sha256: evidence.sha256 } }),
    ...(published && name !== undefined && { published: { name, ...published } }),
  };
}

function stateOf(head: BatchHead, counts: BatchCounts): Pick<Batch, 'state' | 'reason'> {
  const { ended, cancelled } = lastRound(head);
  const by = cancelled && `by ${cancelled.by}: ${cancelled.reason}`;
  if (!ended && by) return { state: 'running', reason: `It is being cancelled ${by}` };
  if (!ended && head.items === undefined) return { state: 'listing', reason: 'Its items are being written down.' };
  if (!ended)
    return { state: 'running', reason: 'Its items begin as its rules and the quotas of the tenant let them.' };
  if (ended.problem !== undefined) return { state: 'failed', reason: ended.problem };
  const left = counts.failed + counts.cancelled + counts.skipped;
  if (left === 0) return { state: 'succeeded', reason: `All ${counted(counts.succeeded, 'item')} succeeded.` };
  if (by) return { state: 'cancelled', reason: `Cancelled ${by}` };
  return {
    state: 'failed',
    reason: `${counted(left, 'item')} did not succeed: POST /v1/batches/${head.batch}/rerun runs them again.`,
  };
}

const readsAtOnce = 16;

/** A page of items: those of one list. */
export async function itemsOfPage(
  { store, news }: Pick<Producer, 'store' | 'news'>,
  head: BatchHead,
  page: number,
): Promise<{ items: BatchItemView[]; next: string | null }> {
  const { tenant, batch, items: all = 0 } = head;
  if (page >= chunksOf(all)) return { items: [], next: null };
  const round = head.rounds.length - 1;
  const place = { tenant, batch, round, chunk: page };
  const next = page + 1 < chunksOf(all) ? String(page + 1) : null;
  const ends = await readEnds(store, place);
  if (ends) return { items: ends.map((end) => ({ ...end, state: end.outcome === null ? 'skipped' : 'ended' })), next };
  const before = (round > 0 && (await lastEnds(store, { ...place, round: round - 1 }))) || [];
  const over = lastRound(head).ended !== undefined;
  const numbers = Array.from(
    { length: Math.min(chunkItems, all - firstOfChunk(page)) },
    (_, at) => firstOfChunk(page) + at,
  );
  const found = new Map<number, BatchItemView>();
  await inLanes(readsAtOnce, numbers, async (item) => {
    const last = before[item % chunkItems];
    if (last && (over || last.outcome === 'succeeded')) return void found.set(item, { ...last, state: 'ended' });
    const run = itemRunId(head, round, item);
    const result = over ? undefined : await news.resultOf(tenant, run);
    const open = !over && !result && (await isOpen(store, tenant, run));
    const none = { exitCode: null, reason: '', result: null, outputs: null, outcome: null };
    const state = result ? 'ended' : open ? 'running' : over ? 'skipped' : 'waiting';
    found.set(item, {
      ...{ item, round, ...none, run: result || open ? run : null, state },
      ...(result && { outcome: result.outcome, exitCode: result.exitCode, reason: result.reason }),
    });
  });
  return { items: numbers.flatMap((item) => found.get(item) ?? []), next };
}
