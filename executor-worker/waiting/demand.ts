/**
 * What a class's arrivals say of the next ones. Pure: time is a number of milliseconds on any clock. It remembers a bounded
 * number of arrivals, whatever their rate.
 */
export interface Demand {
  /** The last arrivals, oldest first. */
  arrivals: readonly number[];
  /** When the class was asked for again after a quiet time, and by how many runs at once. */
  bursts: readonly Burst[];
}

interface Burst {
  at: number;
  /** The most arrivals in one window. */
  most: number;
}

export interface DemandTimes {
  /** About the time in which one cell is made. Arrivals that come so close together each need a cell of their own. */
  windowMs: number;
  /** For how long cells are kept without an arrival. */
  keepMs: number;
}

export const noDemand: Demand = { arrivals: [], bursts: [] };

const remembered = 64;
const rememberedBursts = 4;

export function noteArrival({ arrivals, bursts }: Demand, at: number, { windowMs, keepMs }: DemandTimes): Demand {
  const last = arrivals.at(-1);
  const all = [...arrivals, at].slice(-remembered);
  const isNew = last === undefined || at - last > keepMs;
  const now = all.filter((one) => at - one < windowMs).length;
  const current = bursts.at(-1);
  const grown =
    isNew || !current
      ? [...bursts, { at, most: 1 }]
      : bursts.with(-1, { ...current, most: Math.max(current.most, now) });
  return { arrivals: all, bursts: grown.slice(-rememberedBursts) };
}

/** How many cells of the class should wait now. */
export function wanted(demand: Demand, now: number, times: DemandTimes): number {
  return Math.max(recently(demand, now, times), expected(demand, now, times));
}

/** As many as came at once in the time for which cells are kept: what came together may do so again. */
function recently({ arrivals }: Demand, now: number, { windowMs, keepMs }: DemandTimes): number {
  const recent = arrivals.filter((at) => now - at <= keepMs);
  let most = 0;
  for (let first = 0, last = 0; last < recent.length; last++) {
    while ((recent[last] ?? 0) - (recent[first] ?? 0) >= windowMs) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

/** A schedule's clock and the queue may be late by this much. */
const jitterMs = 30_000;

/** Bursts that came at equal distances are expected once more: a cell waits a little before the next, and a little longer. */
function expected({ bursts }: Demand, now: number, { keepMs }: DemandTimes): number {
  const [a, b, c] = bursts.slice(-3);
  if (!a || !b || !c) return 0;
  const [before, distance] = [b.at - a.at, c.at - b.at];
  if (distance <= keepMs || Math.abs(distance - before) > jitterMs) return 0;
  return Math.abs(c.at + distance - now) <= jitterMs ? Math.max(b.most, c.most) : 0;
}
