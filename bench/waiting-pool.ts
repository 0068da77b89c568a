import { inBursts, manyPolicies, nightly, steady } from '../test/support/pool-traces.ts';
import { type Arrival, foresee, simulate } from '../test/support/simulated-pool.ts';
import type { Bench } from './support/row.ts';

/** About what a cell takes to make on a busy machine. */
const makeMs = 50;

/**
 * How many of 100 runs find a cell that waited, and how many cells wait on average, beside a pool of the same size that
 * knows the future. A simulation of the pool's own decisions.
 */
export async function bench({ row }: Bench): Promise<void> {
  const traces = {
    steady: steady(),
    bursts: inBursts(),
    nightly: nightly().filter((one) => one.class === 'nightly'),
    'many-policies': manyPolicies(),
  };
  for (const [name, trace] of Object.entries(traces))
    for (const most of [4, 8]) {
      const site = { most, makeMs, tickMs: 5_000 };
      const [own, best] = [simulate(trace, site), foresee(trace, site)];
      const rate = (hits: number) => (100 * hits) / trace.length;
      row({ name: `waiting-pool/${name}-${most}`, value: rate(own.hits), unit: '%', baseline: rate(best.hits) });
      row({ name: `waiting-pool/${name}-${most}-held`, value: heldIn(own.waitedMs, trace), unit: 'cells' });
    }
}

const heldIn = (waitedMs: number, trace: readonly Arrival[]) => waitedMs / (trace.at(-1)?.at ?? 1);
