import { randomFrom } from './random.ts';
import type { Arrival } from './simulated-pool.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** The time to the next of arrivals that come by chance, so many in a second. */
const gap = (random: () => number, perSecond: number) => (-Math.log(1 - random()) / perSecond) * 1_000;

function* byChance(random: () => number, perSecond: number, until: number): Generator<number> {
  for (let at = gap(random, perSecond); at < until; at += gap(random, perSecond)) yield at;
}

const inOrder = (arrivals: Arrival[]) => arrivals.toSorted((a, b) => a.at - b.at);

/** One class, a run every two seconds, for an hour. */
export const steady = (): Arrival[] => [...byChance(randomFrom(1), 0.5, hour)].map((at) => ({ at, class: 'one' }));

/** Eight runs within a tenth of a second, about every three minutes, for six hours. */
export function inBursts(): Arrival[] {
  const random = randomFrom(2);
  return inOrder(
    [...byChance(random, 1 / 180, 6 * hour)].flatMap((at) =>
      Array.from({ length: 8 }, () => ({ at: at + random() * 100, class: 'one' })),
    ),
  );
}

/** Six runs at once at two each night, some seconds late, and now and then one by day, for twenty days. */
export function nightly(): Arrival[] {
  const random = randomFrom(3);
  const nights = Array.from({ length: 20 }, (_, i) => i * day + 2 * hour + random() * 5_000).flatMap((at) =>
    Array.from({ length: 6 }, () => ({ at: at + random() * 100, class: 'nightly' })),
  );
  const byDay = [...byChance(random, 1 / 14_400, 20 * day)].map((at) => ({ at, class: 'by day' }));
  return inOrder([...nights, ...byDay]);
}

/** Thirty policies, of which few have most of the runs: one a second in all, for an hour. */
export function manyPolicies(): Arrival[] {
  const random = randomFrom(4);
  const weights = Array.from({ length: 30 }, (_, i) => 1 / (i + 1));
  const all = weights.reduce((sum, one) => sum + one, 0);
  const pick = () => {
    let left = random() * all;
    return weights.findIndex((weight) => (left -= weight) < 0);
  };
  return [...byChance(random, 1, hour)].map((at) => ({ at, class: String(pick()) }));
}
