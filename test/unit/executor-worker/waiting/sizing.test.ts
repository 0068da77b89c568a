import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBursts, manyPolicies, nightly, steady } from '../../../support/pool-traces.ts';
import { type Arrival, foresee, type Served, simulate } from '../../../support/simulated-pool.ts';

const site = { most: 8, makeMs: 50, tickMs: 5_000 };
const rate = ({ hits, runs }: Served) => hits / runs;
/** How many cells waited on average. */
const held = ({ waitedMs }: Served, trace: readonly Arrival[]) => waitedMs / (trace.at(-1)?.at ?? 1);

test('steady runs find a cell, and two wait on average', () => {
  const trace = steady();
  const own = simulate(trace, site);
  assert.ok(rate(own) >= 0.99 * rate(foresee(trace, site)), JSON.stringify(own));
  assert.ok(held(own, trace) <= 2.5, JSON.stringify(own));
});

test('bursts find as many cells as came together before, unless they come later than cells are kept', () => {
  const trace = inBursts();
  const own = simulate(trace, site);
  assert.ok(rate(own) >= 0.75 * rate(foresee(trace, site)), JSON.stringify(own));
});

test('from the fourth night on, runs of a schedule find their cells, which wait for minutes and not for the day', () => {
  const trace = nightly().filter((one) => one.class === 'nightly');
  const own = simulate(trace, site);
  assert.ok(rate(own) >= 0.8 * rate(foresee(trace, site)), JSON.stringify(own));
  assert.ok(held(own, trace) <= 0.05, JSON.stringify(own));
});

test('runs that come by chance once in hours cost next to nothing', () => {
  const trace = nightly().filter((one) => one.class !== 'nightly');
  assert.ok(held(simulate(trace, site), trace) <= 0.05);
});

test('of many policies those wait that are used most', () => {
  const trace = manyPolicies();
  const own = simulate(trace, site);
  const counts = [...Map.groupBy(trace, (one) => one.class).values()].map(({ length }) => length);
  const ofMostUsed = counts.toSorted((a, b) => b - a).slice(0, site.most);
  const bestFixed = ofMostUsed.reduce((sum, count) => sum + count, 0) / trace.length;
  assert.ok(rate(own) >= 0.9 * bestFixed, `${rate(own)} beside ${bestFixed}`);
});

test('never more hits than a pool that knows the future has', () => {
  for (const trace of [steady(), inBursts(), manyPolicies()])
    assert.ok(simulate(trace, site).hits <= foresee(trace, site).hits);
});
