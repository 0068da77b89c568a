import { type BatchDecision, decideBatch } from '@hotcell/contract/batch-decide.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { putBatch } from '@hotcell/record/batch-records.ts';
import { callerFrom } from '../auth/caller.ts';
import { cancelRun } from '../cancel.ts';
import type { Producer } from '../producer.ts';
import { beginItems } from './begin-items.ts';
import { refreshProgress } from './batch-progress.ts';
import { cancelledRound } from './change-batch.ts';
import { endBatch } from './end-batch.ts';
import { type KnownBatch, roundOf } from './known-batch.ts';
import { settleItems } from './settle-items.ts';
import { settleUnsure } from './settle-unsure.ts';

const lookEveryMs = 2_000;
const cancelsAtOnce = 16;

/** One step further: takes in what has ended, and begins, cancels or ends. Undefined: the round has ended. */
export async function advanceBatch(
  producer: Producer,
  known: KnownBatch,
  keep: () => Promise<void>,
): Promise<number | undefined> {
  const now = Date.now();
  await settleItems(producer, known, now);
  // An item whose run was accepted, although no answer came, must not be signed as one that was never begun.
  if (decide(known).finished && known.unsure.length > 0) await settleUnsure(producer, known, keep);
  const { begin, cancelOpen, finished } = decide(known);
  if (finished) {
    await endBatch(producer, known, keep);
    return undefined;
  }
  if (cancelOpen) await cancelItems(producer, known, keep);
  const mayBegin = begin > 0 && now >= known.heldUntil;
  if (mayBegin && !(await beginWithKey(producer, known, { most: begin, keep }))) return now;
  await refreshProgress(producer.store, known, Date.now());
  if (known.heldUntil > now) return Math.min(known.heldUntil, now + lookEveryMs);
  return mayBegin ? now : now + lookEveryMs;
}

function decide({ head, round, open, counts, unsure, fresh, items, next }: KnownBatch): BatchDecision {
  return decideBatch({
    rules: head.value.rules,
    left: unsure.length + fresh.length + items - next,
    open: open.size,
    unsuccessful: counts.failed + counts.cancelled,
    cancelled: roundOf(head.value, round).cancelled !== undefined,
  });
}

/** With the rights of the key that asked for the round. False: it has none any more, and the batch is cancelled. */
async function beginWithKey(
  producer: Producer,
  known: KnownBatch,
  { most, keep }: { most: number; keep: () => Promise<void> },
): Promise<boolean> {
  const { value: head } = known.head;
  const standing = await producer.keys.standingOf(roundOf(head, known.round).key);
  if ('refused' in standing) {
    const why = { by: 'Hotcell', reason: standing.refused };
    known.head = await putBatch(producer.store, cancelledRound(head, why, Date.now()), known.head);
    crashPoint('batch.refused');
    return false;
  }
  await beginItems(producer, known, { most, caller: callerFrom(standing.record, head.tenant), keep });
  return true;
}

async function cancelItems(producer: Producer, known: KnownBatch, keep: () => Promise<void>): Promise<void> {
  const { tenant, batch } = known.head.value;
  const asked = roundOf(known.head.value, known.round).cancelled;
  const by = asked?.by ?? `batch ${batch}`;
  const reason = asked?.reason ?? 'another item of the batch failed';
  const runs = [...known.open.keys()].filter((run) => !known.cancelled.has(run));
  await inLanes(cancelsAtOnce, runs, async (run) => {
    await keep();
    await cancelRun(producer, { tenant, run, by, reason }).catch((error: unknown) => {
      if (!(error instanceof HotcellError && error.code === 'finished_already')) throw error;
      known.heard.add(run);
    });
    known.cancelled.add(run);
    known.heard.add(run);
    crashPoint('batch.cancelled');
  });
}
