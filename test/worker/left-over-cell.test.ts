import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Steps } from '@hotcell/executor-worker/worker.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoSteps, noInputs } from '../support/echo.ts';
import { type House, openHouse } from '../support/house.ts';
import { resultOf, settled } from '../support/promise.ts';
import { until } from '../support/until.ts';

let bed: Bed;
before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

/** Steps whose first cell can't be removed before `gone`; all others are destroyed as usual. */
function leaving(fails: 'its destruction' | 'its sealing') {
  const gone = Promise.withResolvers<void>();
  const gaveUp = Promise.withResolvers<void>();
  const held = new Set<string>();
  let first = true;
  const steps: Steps = {
    ...echoSteps,
    stage: async ({ run }) => {
      held.add(run);
      return { ...noInputs, [Symbol.asyncDispose]: async () => void held.delete(run) };
    },
    seal: async (plan, left, asked) => {
      const cell = await echoSteps.seal(plan, left, asked);
      if (!first) return cell;
      first = false;
      const giveUp = (message: string) => {
        left(gone.promise);
        gaveUp.resolve();
        throw new Error(message);
      };
      if (fails === 'its sealing') giveUp('no posture');
      return Object.assign(cell, { destroy: async () => giveUp('it is still there') });
    },
  };
  return { steps, held, gone, gaveUp: gaveUp.promise };
}

async function waits(house: House, run: string): Promise<void> {
  await until('the run waits for room', async (note) => {
    const [beat] = note(await house.producer.live.statusesOf([run]));
    return beat?.waiting?.code === 'no_room';
  });
}

for (const fails of ['its destruction', 'its sealing'] as const)
  test(`a cell that is left over by ${fails} keeps the room and the inputs of its run until it is gone`, async () => {
    await using house = await openHouse(bed);
    const { steps, held, gone, gaveUp } = leaving(fails);
    await house.worker('one', { steps, env: { HOTCELL_RUNS: '1' } });
    const first = await house.submit('print hello');
    await gaveUp;
    const second = await house.submit('print hello');
    await waits(house, second.run);
    assert.deepEqual([...held], [first.run]);
    gone.resolve();
    for (const { run } of [first, second]) assert.equal((await resultOf(house, run)).outcome, 'succeeded');
    await settled(house, [first.run, second.run]);
    await until('all room is back', async (note) => {
      const [worker] = note(await house.producer.live.workers.all());
      return worker?.used.runs === 0 && held.size === 0;
    });
  });
