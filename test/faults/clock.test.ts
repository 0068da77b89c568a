import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { type Child, spawnNode } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { clockWrongBy } from '../support/load-kinds.ts';
import { resultOf, running, settled } from '../support/promise.ts';
import { until } from '../support/until.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

const minute = 60_000;

/** A worker process whose clock is wrong from the start, or from `jump` on. */
async function wrongWorker(house: House, ms: number, later = false): Promise<Child> {
  const env = await house.settings('worker', {
    HOTCELL_WORKER_NAME: 'wrong',
    ...clockWrongBy(ms, later),
  });
  return spawnNode('test/faults/victims/worker.ts', env);
}

async function jump(child: Child): Promise<void> {
  child.kill('SIGUSR2');
  await child.saying('the clock is wrong');
}

const codes = ['print hello\noutput something', 'exit 3', 'print hello\nbig 10000000'];

describe('clocks', { concurrency: 3 }, () => {
  for (const [words, ms] of [
    ['four minutes ahead', 4 * minute],
    ['four minutes behind', -4 * minute],
    ['an hour ahead', 60 * minute],
    ['an hour behind', -60 * minute],
  ] as const)
    test(`a worker whose clock is ${words} serves its runs or leaves them to others, and no promise is broken`, async () => {
      await using house = await openHouse(bed);
      await using wrong = await wrongWorker(house, ms);
      const runs: string[] = [];
      for (const code of codes) runs.push((await house.submit(code)).run);
      // If its clock is behind by more than the tolerance, every ticket is from the future, and it refuses them all.
      if (ms < -5 * minute) {
        await until('the worker refuses every ticket', async (note) => {
          const { count } = note(await house.producer.live.refused.all());
          return count >= codes.length;
        });
        await wrong.stop();
      }
      if (Math.abs(ms) > 5 * minute) await house.worker('right');
      house.reconciler();
      const results = await Promise.all(runs.map((run) => resultOf(house, run)));
      assert.deepEqual(
        results.map((result) => result.outcome),
        ['succeeded', 'failed', 'succeeded'],
      );
      await settled(house, runs);
    });

  for (const [words, ms] of [
    ['forward', 60 * minute],
    ['back', -60 * minute],
  ] as const)
    test(`a clock that jumps an hour ${words} during a run changes nothing of it`, async () => {
      await using house = await openHouse(bed);
      await using wrong = await wrongWorker(house, ms, true);
      const { run: long } = await house.submit('print begun\nhold');
      const { run: other } = await house.submit('print begun\nlast 10000\noutput late');
      await Promise.all([long, other].map((run) => running(house, run)));
      await jump(wrong);
      const ended = await resultOf(house, other);
      assert.equal(ended.outcome, 'succeeded', ended.reason);
      await cancelRun(house.producer, { tenant: house.tenant, run: long, by: 'anna', reason: 'enough' });
      const result = await resultOf(house, long);
      assert.equal(result.reason, 'Cancelled by anna: enough');
      assert.deepEqual([result.attempts.length, ended.attempts.length], [1, 1]);
      await settled(house, [long, other]);
    });
});
