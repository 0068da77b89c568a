import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Capacity } from '@hotcell/executor-worker/pull/capacity.ts';
import fc from 'fast-check';

const never = new AbortController().signal;
const open = (waits: boolean[] = []) =>
  new Capacity({ cpus: 2, memoryBytes: 100, runs: 3 }, (waiting) => void waits.push(waiting));

test('runs that do not fit wait in the order they asked, and the wait is reported', async () => {
  const waits: boolean[] = [];
  const capacity = open(waits);
  const order: string[] = [];
  const first = await capacity.take({ cpus: 2, memoryBytes: 50 }, never);
  const big = capacity.take({ cpus: 2, memoryBytes: 100 }, never).then((taken) => {
    order.push('big');
    return taken;
  });
  const small = capacity.take({ cpus: 0.1, memoryBytes: 1 }, never).then((taken) => {
    order.push('small');
    return taken;
  });
  assert.equal(capacity.fitsNow({ cpus: 0, memoryBytes: 0 }), false);
  first[Symbol.dispose]();
  (await big)[Symbol.dispose]();
  (await small)[Symbol.dispose]();
  assert.deepEqual(order, ['big', 'small']);
  assert.deepEqual(waits, [true, false]);
});

test('a run that stops waiting lets the next one in', async () => {
  const capacity = open();
  const first = await capacity.take({ cpus: 1, memoryBytes: 60 }, never);
  const leaves = new AbortController();
  const big = capacity.take({ cpus: 1, memoryBytes: 100 }, leaves.signal);
  const small = capacity.take({ cpus: 1, memoryBytes: 40 }, never);
  leaves.abort(new Error('left'));
  await assert.rejects(big, /left/);
  (await small)[Symbol.dispose]();
  first[Symbol.dispose]();
  assert.deepEqual(capacity.used, { cpus: 0, memoryBytes: 0, runs: 0 });
});

test('a run that wants more CPUs than the worker has takes all of them; one that needs more memory never fits', async () => {
  const capacity = open();
  using _taken = await capacity.take({ cpus: 64, memoryBytes: 1 }, never);
  assert.equal(capacity.used.cpus, 2);
  assert.equal(capacity.everFits({ cpus: 64, memoryBytes: 100 }), true);
  assert.equal(capacity.everFits({ cpus: 1, memoryBytes: 101 }), false);
});

test('the worker never gives out more than it has, and all of it comes back', async () => {
  const asks = fc.array(fc.record({ cpus: fc.double({ min: 0.1, max: 4, noNaN: true }), memoryBytes: fc.nat(100) }));
  await fc.assert(
    fc.asyncProperty(asks, async (all) => {
      const capacity = open();
      await Promise.all(
        all.map(async (asked) => {
          using _taken = await capacity.take(asked, never);
          assert.ok(capacity.used.memoryBytes <= 100 && capacity.used.runs <= 3 && capacity.used.cpus <= 2 + 1e-6);
          await Promise.resolve();
        }),
      );
      assert.equal(capacity.used.runs, 0);
      assert.equal(capacity.used.memoryBytes, 0);
    }),
  );
});

test('room that is given back twice comes back once', async () => {
  const capacity = open();
  const taken = await capacity.take({ cpus: 1, memoryBytes: 60 }, never);
  using _other = await capacity.take({ cpus: 1, memoryBytes: 40 }, never);
  taken[Symbol.dispose]();
  taken[Symbol.dispose]();
  assert.deepEqual(capacity.used, { cpus: 1, memoryBytes: 40, runs: 1 });
});

test('a run that was stopped already takes no room and does not wait', async () => {
  const waits: boolean[] = [];
  const capacity = open(waits);
  await assert.rejects(capacity.take({ cpus: 1, memoryBytes: 1 }, AbortSignal.abort(new Error('stopped'))), /stopped/);
  assert.deepEqual(capacity.used, { cpus: 0, memoryBytes: 0, runs: 0 });
  assert.deepEqual(waits, []);
});

test('waiting cells borrow what no run uses, and what a run needs is due back at once', async () => {
  const capacity = open();
  const due: number[] = [];
  capacity.borrowFor({ dueBack: (bytes) => void due.push(bytes), mayFit: () => undefined });
  const loan = capacity.lend(70);
  assert.ok(loan);
  assert.equal(capacity.lend(40), undefined);
  assert.equal(capacity.fitsNow({ cpus: 1, memoryBytes: 100 }), true, 'a loan is in no run’s way');
  using _small = await capacity.take({ cpus: 1, memoryBytes: 30 }, never);
  assert.deepEqual(due, []);
  using _more = await capacity.take({ cpus: 1, memoryBytes: 50 }, never);
  assert.deepEqual(due, [50]);
  loan[Symbol.dispose]();
  assert.ok(capacity.lend(20));
});

test('nothing is lent while a run waits, and no processor is idle while runs have all', async () => {
  const capacity = open();
  assert.equal(capacity.hasIdleCpu, true);
  const first = await capacity.take({ cpus: 2, memoryBytes: 50 }, never);
  assert.equal(capacity.hasIdleCpu, false);
  const second = capacity.take({ cpus: 1, memoryBytes: 10 }, never);
  assert.equal(capacity.lend(1), undefined);
  first[Symbol.dispose]();
  (await second)[Symbol.dispose]();
  assert.equal(capacity.hasIdleCpu, true);
});
