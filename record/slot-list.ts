import type { Slot } from './schemas.ts';

interface Holding {
  id: string;
  /** Its thing stands. */
  made: boolean;
}

/** The list with a slot for `id`. Undefined if nothing is to be changed: it has its slot, or the others take up all. */
export function slotsWith(
  slots: readonly Slot[],
  { id, made }: Holding,
  { most, at }: { most: number; at: string },
): Slot[] | undefined {
  const own = slots.find((slot) => slot.id === id);
  if (own ? own.made || !made : slots.length >= most) return undefined;
  const others = slots.filter((slot) => slot !== own);
  return [...others, { id, at: own?.at ?? at, ...(made && { made }) }];
}

/** The list without those that were judged as ended. A slot that was confirmed since then stays. */
export function slotsWithout(slots: readonly Slot[], ended: readonly Slot[]): Slot[] {
  return slots.filter(({ id, made }) => !ended.some((one) => one.id === id && one.made === made));
}

/** Longer than any request takes between its two calls. One that takes longer is refused by the second. */
const abandonedMs = 60_000;

/** Its caller died or is held up: it has not confirmed the slot within a minute. */
export function isAbandoned({ at, made }: Slot, now = Date.now()): boolean {
  return !made && now - Date.parse(at) > abandonedMs;
}
