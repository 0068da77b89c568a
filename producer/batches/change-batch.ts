import { type BatchHead, mostRounds } from '@hotcell/contract/batch.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { RunId } from '@hotcell/contract/names.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import { markBatchOpen, putBatch, readBatch, type StoredBatch } from '@hotcell/record/batch-records.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { confirmBatchSlot, takeBatchSlot } from './batch-slots.ts';

export interface BatchDeps {
  store: Buckets;
  live: Pick<Live, 'batchChanged'>;
  log: Logger;
}

export async function requireBatch(store: Buckets, tenant: string, id: string): Promise<StoredBatch> {
  const batch = RunId.safeParse(id);
  const found = batch.success ? await readBatch(store, { tenant, batch: batch.data }) : undefined;
  if (found) return found;
  throw new HotcellError('not_found', `Batch ${id} not found. GET /v1/batches lists the batches.`);
}

const mostTries = 20;

/** Changes a batch over exactly what was read, again until no other writer was faster, and tells its leader. */
export async function changeBatch(
  deps: BatchDeps,
  tenant: string,
  id: string,
  change: (head: BatchHead) => BatchHead,
): Promise<BatchHead> {
  for (let tries = 1; ; tries++) {
    const before = await requireBatch(deps.store, tenant, id);
    try {
      const changed = change(before.value);
      if (changed.rounds.length > before.value.rounds.length) await takeBatchSlot(deps.store, changed);
      const { value } = changed === before.value ? before : await putBatch(deps.store, changed, before);
      await promiseRound(deps.store, value);
      await tellBatchLeader(deps, value);
      return value;
    } catch (error) {
      if (!(error instanceof PreconditionFailed) || tries >= mostTries) throw error;
    }
  }
}

/** Also if nothing changed: its mark may be what is missing. One that is cancelled begins nothing, and needs no slot. */
export async function promiseRound(store: Buckets, head: BatchHead): Promise<void> {
  const { ended, cancelled } = lastRound(head);
  if (ended) return;
  if (!cancelled) await confirmBatchSlot(store, head);
  await markBatchOpen(store, { ...head, round: head.rounds.length - 1 });
}

/** Without Valkey the leader sees the change at its next look. */
export async function tellBatchLeader({ live, log }: BatchDeps, { tenant, batch }: BatchHead): Promise<void> {
  await live.batchChanged(tenant, batch).catch((error: unknown) => {
    log.info({ batch, error }, 'failed to announce a change of a batch; its leader will see it');
  });
}

export function lastRound({ rounds }: BatchHead): BatchHead['rounds'][number] {
  const last = rounds.at(-1);
  if (last) return last;
  throw new TypeError('a batch has at least one round');
}

/** The first one who cancels it is the one that is named. */
export function cancelledRound(head: BatchHead, why: { by: string; reason: string }, now: number): BatchHead {
  const last = lastRound(head);
  if (last.ended)
    throw new HotcellError('finished_already', `Batch ${head.batch} has finished already: there is nothing to cancel.`);
  if (last.cancelled) return head;
  const cancelled = { ...why, at: new Date(now).toISOString() };
  return { ...head, rounds: [...head.rounds.slice(0, -1), { ...last, cancelled }] };
}

/** A round over the items that have not succeeded. Asked for again while it goes on, it is the same. */
export function nextRound(head: BatchHead, { by }: { by: string }, now: number): BatchHead {
  const last = lastRound(head);
  if (!last.ended) {
    if (head.rounds.length > 1 && last.by === by) return head;
    throw new HotcellError('conflict', `Batch ${head.batch} goes on. Wait until it has finished, or cancel it.`);
  }
  const { counts, problem } = last.ended;
  if (problem !== undefined)
    throw new HotcellError('finished_already', `Batch ${head.batch} has no items: ${problem} Make a new batch.`);
  if (counts.succeeded === head.items)
    throw new HotcellError('finished_already', `All items of batch ${head.batch} have succeeded.`);
  if (head.rounds.length >= mostRounds)
    throw new HotcellError('invalid', `Batch ${head.batch} had ${mostRounds} rounds. Make a new batch.`);
  const at = new Date(Math.max(now, Date.parse(last.at) + 1)).toISOString();
  return { ...head, rounds: [...head.rounds, { at, by, key: by, carried: counts.succeeded }] };
}
