import type { Buckets } from './buckets.ts';
import { objects } from './objects.ts';
import { change, readValue } from './read-write.ts';
import type { Slot } from './schemas.ts';
import { slotsWith, slotsWithout } from './slot-list.ts';

/** A kind of thing of which a tenant may have a bounded number. */
export interface TenantSlots {
  kind: Parameters<typeof objects.slots.key>[0];
  tenant: string;
  most: number;
  /** The ids of those that were made before slots were counted. */
  existing: () => Promise<string[]>;
  /** Is asked when all slots are taken: those of them that are free again. */
  whichEnded: (slots: readonly Slot[]) => Promise<readonly Slot[]>;
}

/**
 * Takes a slot for `id`. The list is swapped over the version that was read, so the store refuses one of two callers for
 * the last slot. A caller takes its slot before it makes the thing, so that a refusal leaves nothing behind. False: all
 * slots are taken.
 *
 * What has ended stays in the list until that is full. The list never has more than `most` slots, a few kilobytes, and it
 * doesn't say which of them have ended: the record is asked that, once for each slot that leaves. To ask at each end, or
 * for each caller, would cost a write or reads more and let no caller in earlier.
 */
export async function takeSlot(store: Buckets, of: TenantSlots, id: string): Promise<boolean> {
  return await holdSlot(store, of, { id, made: false });
}

/**
 * Once the thing stands, its slot is kept until it ends. Another caller may have freed the slot meanwhile because it
 * believed this one dead: then this one takes another, or is refused.
 */
export async function confirmSlot(store: Buckets, of: TenantSlots, id: string): Promise<boolean> {
  return await holdSlot(store, of, { id, made: true });
}

async function holdSlot(store: Buckets, of: TenantSlots, own: { id: string; made: boolean }): Promise<boolean> {
  const first = await firstSlots(store, of);
  for (;;) {
    const at = new Date().toISOString();
    const slots = await changeSlots(store, of, first, (before) => slotsWith(before, own, { most: of.most, at }));
    if (slots.some(({ id }) => id === own.id)) return true;
    const ended = await of.whichEnded(slots);
    if (ended.length === 0) return false;
    await changeSlots(store, of, first, (before) => slotsWithout(before, ended));
  }
}

/** A tenant without a list has slots for what it had made before. */
async function firstSlots(store: Buckets, { kind, tenant, existing }: TenantSlots): Promise<readonly Slot[]> {
  const list = await readValue(store, objects.slots, kind, tenant);
  if (list) return list.places;
  const at = new Date().toISOString();
  return (await existing()).map((id) => ({ id, at, made: true as const }));
}

/** Answers the slots that stand afterwards. */
async function changeSlots(
  store: Buckets,
  { kind, tenant }: TenantSlots,
  first: readonly Slot[],
  next: (before: readonly Slot[]) => Slot[] | undefined,
): Promise<readonly Slot[]> {
  const after = await change(
    store,
    objects.slots,
    (before) => {
      const places = next(before?.value.places ?? first);
      return places && { version: 1 as const, places };
    },
    kind,
    tenant,
  );
  return after?.places ?? first;
}
