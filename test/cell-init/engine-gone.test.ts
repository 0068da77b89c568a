import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { until } from '../support/until.ts';
import { Init, jobFrames, runtimes } from './support/init.ts';
import { openOwnEngine, type OwnEngine } from '../support/own-engine.ts';

let bed: Bed;
let own: OwnEngine;
before(async () => {
  bed = await openBed();
  own = await openOwnEngine(bed, bed.images.minimal.digest);
});
after(async () => {
  await own?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

test('when the engine is killed, cells on both runtimes end at init’s own deadline', async () => {
  const begun = await Promise.all(
    runtimes.map(async (runtime) => {
      const start = () => Init.start(bed, runtime, {}, { engine: own.engine, image: bed.images.minimal.digest });
      const [busy, waiting] = [await start(), await start()];
      await busy.seal();
      await waiting.seal();
      return { runtime, busy, waiting, pids: [await pidOf(busy), await pidOf(waiting)] as const };
    }),
  );
  const forever = { programs: ['/bin/minimal'], args: ['cat', '/dev/zero'] };
  for (const { busy } of begun) {
    await busy.talk.send(jobFrames({ blocks: [forever], limits: { lifetimeMs: 20_000 } }));
    await busy.until((frame) => frame.type === 'blockStarted');
  }
  await own.crash();
  for (const { runtime, pids } of begun)
    for (const pid of pids) assert.ok(existsSync(`/proc/${pid}`), `on ${runtime} the engine’s end is not the cell’s`);
  for (const { runtime, pids } of begun) {
    await until(`the busy cell on ${runtime} is gone`, async () => !existsSync(`/proc/${pids[0]}`));
    assert.ok(existsSync(`/proc/${pids[1]}`), 'the cell whose deadline is later is still there');
  }
});

async function pidOf(init: Init): Promise<number> {
  const pid = (await init.engine.inspect(init.container))?.State.Pid;
  assert.ok(pid, 'it runs');
  return pid;
}
