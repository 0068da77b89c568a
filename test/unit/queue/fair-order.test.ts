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
