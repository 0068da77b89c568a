import type { ItemEnd } from '@hotcell/contract/batch.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { putEnds } from '@hotcell/record/batch-records.ts';
import { storedResult } from '@hotcell/record/commit.ts';
import { isOpen } from '@hotcell/record/run-marks.ts';
import type { Producer } from '../producer.ts';
import { chunkOfItem } from '@hotcell/contract/batch-items.ts';
import { type KnownBatch, noteEnd, openRun, placeOf, runOf } from './known-batch.ts';

const readsAtOnce = 16;
/** Runs whose end no message told are found by looking: so many at a time, in turn. */
const lookedAt = 32;
const lookEveryMs = 5_000;
const longestReason = 300;

type Deps = Pick<Producer, 'store'>;

/** After a leader died: what became of the items that it may have begun. Those without a run stay unsure. */
export async function findBegun(deps: Deps, known: KnownBatch): Promise<void> {
  const left: number[] = [];
  await inLanes(readsAtOnce, known.unsure.splice(0), async (item) => {
    const run = runOf(known, item);
    if (await settleItem(deps, known, item, run)) return;
    if (await isOpen(deps.store, known.head.value.tenant, run)) openRun(known, run, item);
    // It may have ended, and its marker been removed, between the two reads.
    else if (!(await settleItem(deps, known, item, run))) left.push(item);
  });
  known.unsure = left.sort((a, b) => a - b);
}

/** Takes in what has ended: of what messages told, and of some that are looked at in their turn. */
export async function settleItems(deps: Deps, known: KnownBatch, now: number): Promise<void> {
  const { open, heard } = known;
  const asked = new Set([...heard].filter((run) => open.has(run)));
  heard.clear();
  if (now - known.lookedAt >= lookEveryMs) {
    known.lookedAt = now;
    for (const run of [...open.keys()].slice(0, lookedAt)) asked.add(run);
  }
  await inLanes(readsAtOnce, asked, async (run) => {
    const item = open.get(run);
    if (item === undefined) return;
    open.delete(run);
    // Those that go on come to the end of the row.
    if (!(await settleItem(deps, known, item, run))) open.set(run, item);
  });
}

/** False if its run has not ended. */
async function settleItem(deps: Deps, known: KnownBatch, item: number, run: RunId): Promise<boolean> {
  const end = await endOf(deps, known, item, run);
  if (end) await settleWith(deps, known, end);
  return end !== undefined;
}

/** Notes the end, and writes down those of its chunk if it was the last. */
export async function settleWith({ store }: Deps, known: KnownBatch, end: ItemEnd): Promise<void> {
  if (!noteEnd(known, end)) return;
  const number = chunkOfItem(end.item);
  const ends = known.chunks.get(number)?.ends.flatMap((one) => one ?? []) ?? [];
  await putEnds(store, placeOf(known, number), ends);
  known.chunks.delete(number);
  crashPoint('batch.ends');
}

export async function endOf(
  { store }: Deps,
  known: KnownBatch,
  item: number,
  run: RunId,
): Promise<ItemEnd | undefined> {
  const found = await storedResult(store, known.head.value.tenant, run);
  if (!found) return undefined;
  const { outcome, exitCode, reason, outputs } = found.value;
  return {
    ...{ item, round: known.round, run, outcome, exitCode, result: found.digest, outputs: outputs.snapshot },
    reason: outcome === 'succeeded' ? '' : reason.slice(0, longestReason),
  };
}
