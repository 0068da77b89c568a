import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import type { Slot } from '@hotcell/record/schemas.ts';

const readsAtOnce = 8;

/** The slots whose things have ended, or will never be made. */
export async function endedSlots(
  slots: readonly Slot[],
  hasEnded: (slot: Slot) => Promise<boolean>,
): Promise<readonly Slot[]> {
  const ended: Slot[] = [];
  await inLanes(readsAtOnce, slots, async (slot) => {
    if (await hasEnded(slot)) ended.push(slot);
  });
  return ended;
}

interface Bound {
  limit: 'batches' | 'webhooks' | 'workflows';
  most: number;
  /** In the plural, for people. */
  what: string;
  /** What to do now. */
  next: string;
  retryAfterSeconds?: number;
}

export function noFreeSlot(tenant: string, { limit, most, what, next, ...retry }: Bound): HotcellError {
  const message = `The tenant ${tenant} has ${most} ${what}, the most that it may have. ${next}`;
  return new HotcellError('too_many', message, { extra: { limit, ...retry } });
}
