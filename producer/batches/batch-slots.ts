import { type BatchHead, mostOpenBatches as most } from '@hotcell/contract/batch.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { markBatchOpen, openBatches, type OpenRound, readBatch } from '@hotcell/record/batch-records.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { Slot } from '@hotcell/record/schemas.ts';
import { isAbandoned } from '@hotcell/record/slot-list.ts';
import { confirmSlot, takeSlot, type TenantSlots } from '@hotcell/record/take-slot.ts';
import { endedSlots, noFreeSlot } from '../tenant-slots.ts';

const bound = {
  limit: 'batches',
  most,
  what: 'open batches',
  next: 'Try again when one has finished.',
  retryAfterSeconds: 60,
} as const;

type Round = Pick<BatchHead, 'tenant' | 'batch' | 'rounds'>;

/** A look before any work is done for the request. Two at once may pass it: the slot that each takes decides. */
export async function requireFreeBatchSlot(store: Buckets, tenant: string): Promise<void> {
  if ((await markedRounds(store, tenant)).length >= most) throw noFreeSlot(tenant, bound);
}

/** For its newest round, before the head says that it begins. */
export async function takeBatchSlot(store: Buckets, { tenant, batch, rounds }: Round): Promise<void> {
  const id = slotIdOf({ batch, round: rounds.length - 1 });
  if (!(await takeSlot(store, slotsFor(store, tenant), id))) throw noFreeSlot(tenant, bound);
}

/** The newest round stands in the head, and its mark may be put. */
export async function confirmBatchSlot(store: Buckets, { tenant, batch, rounds }: Round): Promise<void> {
  const id = slotIdOf({ batch, round: rounds.length - 1 });
  if (!(await confirmSlot(store, slotsFor(store, tenant), id))) throw noFreeSlot(tenant, bound);
}

const slotsFor = (store: Buckets, tenant: string): TenantSlots => ({
  ...{ kind: 'batches', tenant, most },
  existing: () => markedRounds(store, tenant),
  whichEnded: (slots) => endedRounds(store, tenant, slots),
});

const slotIdOf = ({ batch, round }: Pick<OpenRound, 'batch' | 'round'>) => `${batch}/${round}`;

async function markedRounds(store: Buckets, tenant: string): Promise<string[]> {
  return (await Array.fromAsync(openBatches(store, tenant))).map(slotIdOf);
}

async function endedRounds(store: Buckets, tenant: string, slots: readonly Slot[]): Promise<readonly Slot[]> {
  const marked = new Set(await markedRounds(store, tenant));
  const unmarked = slots.filter(({ id }) => !marked.has(id));
  return await endedSlots(unmarked, async (slot) => {
    const [id, number] = slot.id.split('/');
    const batch = RunId.safeParse(id);
    if (!batch.success || isAbandoned(slot)) return true;
    if (!slot.made) return false;
    const at = { tenant, batch: batch.data, round: Number(number) };
    const round = (await readBatch(store, at))?.value.rounds[at.round];
    if (!round || round.ended) return true;
    // Its producer died before it put the mark: the leader goes on with it now.
    await markBatchOpen(store, at);
    return false;
  });
}
