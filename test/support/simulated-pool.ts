import {
  type Demand,
  type DemandTimes,
  noDemand,
  noteArrival,
  usesOf,
} from '@hotcell/executor-worker/waiting/demand.ts';
import { shareOut } from '@hotcell/executor-worker/waiting/share-out.ts';

export interface Arrival {
  /** Milliseconds since the beginning. */
  at: number;
  class: string;
}

export interface Site {
  /** How many cells may wait. */
  most: number;
  /** How long one takes to make; one is made at a time. */
  makeMs: number;
  tickMs: number;
}

export interface Served {
  runs: number;
  hits: number;
  /** How long cells waited, all together: the memory that was held. */
  waitedMs: number;
}

const keepMs = 5 * 60_000;
const oldestMs = 5 * 60_000;

interface Simulated {
  demand: Demand;
  /** Since when each cell waits. */
  waiting: number[];
}

/** The pool's own decisions over a trace, on a clock that costs no time. */
export function simulate(trace: readonly Arrival[], { most, makeMs, tickMs }: Site): Served {
  const times: DemandTimes = { windowMs: makeMs * 2, keepMs };
  const classes = new Map<string, Simulated>();
  const served: Served = { runs: trace.length, hits: 0, waitedMs: 0 };
  let making: { class: string; doneAt: number } | undefined;
  const leave = (since: number, now: number) => (served.waitedMs += now - since);
  const tend = (now: number) => {
    const claimants = [...classes].map(([key, { demand }]) => ({
      ...{ key, uses: usesOf(demand, now, times), pinned: 0, bytes: 1 },
    }));
    const shares = shareOut(claimants, { cells: most, bytes: most });
    let lacking: { class: string; by: number } | undefined;
    for (const [key, one] of classes) {
      const share = shares.get(key) ?? 0;
      while (one.waiting.length > 0 && (one.waiting.length > share || now - (one.waiting[0] ?? now) > oldestMs))
        leave(one.waiting.shift() ?? now, now);
      const by = share - one.waiting.length;
      if (by > (lacking?.by ?? 0)) lacking = { class: key, by };
    }
    if (lacking && !making) making = { class: lacking.class, doneAt: now + makeMs };
  };
  const arrive = ({ at, class: key }: Arrival) => {
    const one = classes.get(key) ?? { demand: noDemand, waiting: [] };
    classes.set(key, one);
    const since = one.waiting.shift();
    if (since !== undefined) {
      served.hits += 1;
      leave(since, at);
    }
    one.demand = noteArrival(one.demand, at, times);
  };
  let next = 0;
  const end = (trace.at(-1)?.at ?? 0) + 1;
  for (let now = 0; now < end; ) {
    const arrival = trace[next]?.at ?? end;
    now = Math.min(arrival, making?.doneAt ?? end, now + tickMs - (now % tickMs));
    if (making && making.doneAt <= now) {
      classes.get(making.class)?.waiting.push(now);
      making = undefined;
    }
    for (let one = trace[next]; one && one.at <= now; one = trace[++next]) arrive(one);
    tend(now);
  }
  for (const { waiting } of classes.values()) for (const since of waiting) leave(since, end);
  return served;
}

/** A pool that knows the future: it makes each cell as late as it can, one at a time, within the same bound. */
export function foresee(trace: readonly Arrival[], { most, makeMs }: Site): Served {
  const served: Served = { runs: trace.length, hits: 0, waitedMs: 0 };
  let busyFrom = Number.POSITIVE_INFINITY;
  const waits: { from: number; to: number }[] = [];
  for (const { at } of trace.toReversed()) {
    const ready = Math.min(at, busyFrom);
    const beside = waits.filter(({ from, to }) => from < at && to >= ready && to - from > 0).length;
    if (ready - makeMs < 0 || beside >= most) continue;
    busyFrom = ready - makeMs;
    served.hits += 1;
    served.waitedMs += at - ready;
    waits.push({ from: ready, to: at });
    // The trace goes backwards: what waits only after this arrival can't be beside an earlier one.
    while (waits[0] && waits[0].from > at) waits.shift();
  }
  return served;
}
