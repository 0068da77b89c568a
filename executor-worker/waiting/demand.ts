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
  const together = all.filter((one) => at - one < windowMs).length;
  const current = bursts.at(-1);
  const grown =
    current && last !== undefined && at - last <= keepMs
      ? bursts.with(-1, { ...current, most: Math.max(current.most, together) })
      : [...bursts, { at, most: 1 }];
  return { arrivals: all, bursts: grown.slice(-rememberedBursts) };
}

/**
 * How many arrivals of late would have used a first waiting cell, how many a second, and so on: what came together may come
 * together again. Its length is the number of cells that are worth something.
 */
export function usesOf(demand: Demand, now: number, times: DemandTimes): number[] {
  const uses = recentUses(demand, now, times);
  for (let cell = expectedNow(demand, now, times) - 1; cell >= 0; cell--) uses[cell] = Math.max(1, uses[cell] ?? 0);
  return uses;
}

function recentUses({ arrivals }: Demand, now: number, { windowMs, keepMs }: DemandTimes): number[] {
  const recent = arrivals.filter((at) => now - at <= keepMs);
  const uses: number[] = [];
  let first = 0;
  for (const [index, at] of recent.entries()) {
    while (at - (recent[first] ?? at) >= windowMs) first++;
    uses[index - first] = (uses[index - first] ?? 0) + 1;
  }
  return uses;
}

/** A schedule's clock and the queue may be late by this much. */
const jitterMs = 30_000;

/**
 * Bursts that came at equal distances are expected once more: cells wait a little before the next, and a little longer. Its
 * first run must not end the expectation of the others.
 */
function expectedNow({ bursts }: Demand, now: number, times: DemandTimes): number {
  return Math.max(expectedAfter(bursts.slice(-3), now, times), expectedAfter(bursts.slice(-4, -1), now, times));
}

function expectedAfter([a, b, c]: readonly Burst[], now: number, { keepMs }: DemandTimes): number {
  if (!a || !b || !c) return 0;
  const [before, distance] = [b.at - a.at, c.at - b.at];
  if (distance <= keepMs || Math.abs(distance - before) > jitterMs) return 0;
  return Math.abs(c.at + distance - now) <= jitterMs ? Math.max(b.most, c.most) : 0;
}
