import { z } from 'zod';
import { frameLimits } from './frames.ts';

/** The uids that a worker gives to its cells, one cell at a time each. */
export interface Uids {
  first: number;
  last: number;
}

/** Far more than cells at once: their uids are looked for from a random place on, so that workers seldom collide. */
const fewest = 2048;
/** What the kernel shows for an id that it can't map; every image has a user with it. */
const overflowUid = 65_534;
const highest = 2 ** 31 - 1;

export function uidsOf(range: string): Uids {
  const [first = Number.NaN, last = Number.NaN] = range.split('-').map(Number);
  return { first, last };
}

/** `FIRST-LAST`. The kernel bounds processes per uid, so no other user or installation of a host may use these. */
export const UidRange = z
  .string()
  .regex(/^\d{1,10}-\d{1,10}$/, 'must be two uids, such as 10000-49999')
  .check(({ value, issues }) => {
    const { first, last } = uidsOf(value);
    const say = (message: string) => issues.push({ code: 'custom', message, input: value });
    if (first < frameLimits.lowestUid)
      say(`must begin at ${frameLimits.lowestUid} or later: lower uids belong to the system`);
    if (last > highest) say(`must end at ${highest} or earlier`);
    if (last - first + 1 < fewest) say(`must have at least ${fewest} uids`);
    if (first <= overflowUid && overflowUid <= last)
      say(`must not contain ${overflowUid}, which the kernel shows for ids that it can’t map`);
  });
