import type { Buckets } from './buckets.ts';
import { objects } from './objects.ts';
import { change, readValue } from './read-write.ts';
import type { Place, Places } from './schemas.ts';

/** A kind of thing of which a tenant may have a bounded number. */
export interface Bounded {
  of: Parameters<typeof objects.places.key>[0];
  tenant: string;
  most: number;
  /** Those that were made before places were counted. */
  there: () => Promise<string[]>;
  /** Asked when all places are taken: those of them whose place is free again. */
  over: (places: readonly Place[]) => Promise<readonly Place[]>;
}

/**
 * Takes a place in the tenant's list, which is replaced over exactly what was read: of two callers for the last place one
 * is refused, in whichever processes they are. A place is taken before what is made, so that a refusal leaves nothing;
 * and once more as `made`, because it may be lost meanwhile to a caller that believes its first one dead. False: all are
 * taken.
 *
 * What has ended stays in the list until that is full. The list never has more than `most` places, a few kilobytes, and
 * says of none that it goes on: that is asked of the record, once for each place that leaves. To ask at each end, or for
 * each caller, would be a write or reads more for each, and would let no caller in earlier.
 */
export async function takePlace(store: Buckets, bounded: Bounded, id: string, made = false): Promise<boolean> {
  const { of, tenant, most } = bounded;
  const known = (await readValue(store, objects.places, of, tenant)) ?? { places: await placesThere(bounded) };
  for (;;) {
    let taken: readonly Place[] = [];
    const at = new Date().toISOString();
    const next = (before: { value: Places } | undefined): Places | undefined => {
      const { places } = before?.value ?? known;
      taken = [];
      const mine = places.find((place) => place.id === id);
      if (mine && (mine.made || !made)) return undefined;
      const others = places.filter((place) => place !== mine);
      if (!mine && others.length >= most) taken = places;
      const own = { id, at: mine?.at ?? at, ...(made && { made }) };
      return taken.length > 0 ? undefined : { version: 1, places: [...others, own] };
    };
    await change(store, objects.places, next, of, tenant);
    if (taken.length === 0) return true;
    const over = await bounded.over(taken);
    if (over.length === 0) return false;
    await leave(store, bounded, known, over);
  }
}

async function placesThere({ there }: Bounded): Promise<Place[]> {
  const at = new Date().toISOString();
  return (await there()).map((id) => ({ id, at, made: true }));
}

/** One that was made since it was judged stays. */
async function leave(
  store: Buckets,
  { of, tenant }: Bounded,
  known: { places: readonly Place[] },
  over: readonly Place[],
): Promise<void> {
  const stays = (place: Place) => !over.some(({ id, made }) => id === place.id && made === place.made);
  const next = (before: { value: Places } | undefined): Places => {
    return { version: 1, places: (before?.value ?? known).places.filter(stays) };
  };
  await change(store, objects.places, next, of, tenant);
}

/** Longer than any request takes between its two calls. One that takes longer is refused by the second. */
const abandonedMs = 60_000;

/** Its process died, or is held up, before what it was taken for was made. */
export function isAbandoned({ at, made }: Place): boolean {
  return !made && Date.now() - Date.parse(at) > abandonedMs;
}
