import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allSmallAfter, bigAndSmall, FairOrder } from '../../queue/fair-order.ts';

function orderOf(wanted: typeof bigAndSmall): string[] {
  const order = new FairOrder();
  for (const one of wanted) order.add(one);
  return order.takeAll();
}

test('a tenant with 20 runs is done within 40, however many priorities the thousand runs of another have', () => {
  const order = orderOf(bigAndSmall);
  assert.equal(order.length, bigAndSmall.length);
  assert.ok(allSmallAfter(order) <= 40, `all of the small tenant after ${allSmallAfter(order)}`);
});

test('within a tenant a higher priority is served first, and then what came first', () => {
  const big = orderOf(bigAndSmall).filter((run) => run.startsWith('big'));
  const numbers = big.map((run) => Number(run.slice('big-'.length)));
  const expected = numbers.toSorted((a, b) => (b % 10) - (a % 10) || a - b);
  assert.deepEqual(numbers, expected);
});

test('a tenant that comes late has its turn in the round that is being served', () => {
  const order = new FairOrder();
  for (let i = 0; i < 100; i++) order.add({ run: `big-${i}`, tenant: 'big', priority: 5 });
  for (let i = 0; i < 50; i++) order.take();
  order.add({ run: 'late', tenant: 'late', priority: 5 });
  assert.ok(order.takeAll().indexOf('late') <= 1);
});

/** How long each run of a light tenant waits, which asks for one every 40 runs' time, in a place that runs one at a time. */
function lightWaits(flood: number): number[] {
  const order = new FairOrder();
  for (let i = 0; i < flood; i++) order.add({ run: `flood-${i}`, tenant: 'flood', priority: 9 });
  const askedAt = new Map<string, number>();
  const waits: number[] = [];
  for (let now = 0; now < 4_000; now++) {
    // Asked for just after a run has begun: nothing that runs is stopped.
    const next = order.take();
    const at = next === undefined ? undefined : askedAt.get(next);
    if (at !== undefined) waits.push(now - at);
    if (now % 40 !== 0) continue;
    askedAt.set(`light-${now}`, now);
    order.add({ run: `light-${now}`, tenant: 'light', priority: 0 });
  }
  return waits;
}

test('a tenant that floods the queue with 100,000 urgent runs costs a light one at most one run of time', () => {
  const alone = lightWaits(0);
  const beside = lightWaits(100_000);
  assert.equal(beside.length, alone.length);
  const cost = Math.max(...beside.map((wait, i) => wait - (alone[i] ?? 0)));
  assert.ok(cost <= 1, `it costs ${cost}`);
});
