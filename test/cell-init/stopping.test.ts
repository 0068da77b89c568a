import assert from 'node:assert/strict';
import type { CellFrame } from '@hotcell/executor-worker/cell/frames/decode.ts';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '../support/until.ts';
import { onBothRuntimes } from './support/bed.ts';
import { Init, jobFrames } from './support/init.ts';

const goodbye = `
import os, signal, sys, time
def leave(*_):
    open('/outputs/last', 'w').write('word')
    print('goodbye')
    sys.exit(5)
signal.signal(signal.SIGTERM, leave)
print('ready')
while True: time.sleep(1000)
`;

/** Ignores SIGTERM, and so do its detached grandchildren. */
const stubborn = `
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        os.fork()
        while True: time.sleep(1000)
print('ready')
while True: time.sleep(1000)
`;

/** Reacts only once: a line may come in more than one frame. */
function once(act: () => Promise<void>): (frame: CellFrame) => Promise<void> {
  let done = false;
  return async (frame) => {
    if (frame.type !== 'log' || done) return;
    done = true;
    await act();
  };
}

const killed = { how: 'signalled', signal: 9 };

onBothRuntimes('stopping a job', (runtime, bed) => {
  test('sends SIGTERM first, and keeps the job’s last output and files', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({ blocks: [goodbye, 'print("never")'] }, async (frame, seen) => {
      if (frame.type === 'log' && seen.stdout === 'ready\n')
        await init.talk.send([{ type: 'kill', reason: 'cancelled' }]);
    });
    assert.equal(report.stdout, 'ready\ngoodbye\n');
    assert.deepEqual(report.ends, [5]);
    assert.deepEqual(report.causes, ['killed']);
    assert.equal(report.of('blockEnded')[0]?.killReason, 'cancelled');
    assert.equal(report.end.cause, 'killed');
    assert.equal(report.outputs['last']?.toString(), 'word');
  });

  test('kills every process that is left after the grace', async () => {
    await using init = await Init.start(bed(), runtime);
    const job = { blocks: [stubborn, 'print("never")'], limits: { graceMs: 200 } };
    const report = await init.run(
      job,
      once(() => init.talk.send([{ type: 'kill', reason: 'draining' }])),
    );
    assert.deepEqual(report.ends, [killed]);
    assert.equal(report.end.killReason, 'draining');
    assert.equal(report.end.blocks, 1);
  });

  test("happens at a block's time limit", async () => {
    await using init = await Init.start(bed(), runtime);
    // Time enough for a slow machine to start Python, which then ignores SIGTERM.
    const slow = { code: stubborn, path: 'a.py', timeMs: 4000 };
    const report = await init.run({ blocks: ['print("quick")', slow, 'print("never")'], limits: { graceMs: 1000 } });
    assert.deepEqual(report.causes, ['none', 'blockTime']);
    const stopped = report.of('blockEnded')[1];
    assert.equal(stopped?.end.how, 'signalled');
    assert.ok(stopped.wallUs >= 4_500_000, `stopped after ${stopped.wallUs} µs, before half of the grace`);
    assert.equal(report.end.cause, 'blockTime');
  });

  test("happens at the run's time limit, counted from the first block", async () => {
    await using init = await Init.start(bed(), runtime);
    const nap = 'import time; time.sleep(0.2)';
    const report = await init.run({ blocks: [nap, stubborn, 'print("never")'], limits: { runMs: 3000, graceMs: 100 } });
    assert.equal(report.end.cause, 'runTime');
    assert.doesNotMatch(report.stdout, /never/);
  });

  test('twice ends the cell at once', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run(
      { blocks: [stubborn], limits: { graceMs: 200_000 } },
      once(() => init.talk.send(Array(2).fill({ type: 'kill', reason: 'platform' }))),
    );
    assert.deepEqual(report.of('end'), []);
    assert.equal(await init.engine.wait(init.container, 60_000), 71);
  });

  test("is what the end of init's input does", async () => {
    await using init = await Init.start(bed(), runtime);
    await init.seal();
    await init.talk.send(jobFrames({ blocks: [stubborn] }));
    await init.until((frame) => frame.type === 'log');
    init.talk.close();
    assert.equal(await init.engine.wait(init.container, 60_000), 71);
  });

  test('is done by init itself when its lifetime is over, even if the host does nothing', async () => {
    await using init = await Init.start(bed(), runtime);
    const flood = 'import os\nwhile True: os.write(1, bytes(65536))';
    await init.seal();
    const pid = (await init.engine.inspect(init.container))?.State.Pid;
    // The output is not read: init cannot write and must not wait. The engine reports the end only once it is read.
    await init.talk.send(jobFrames({ blocks: [flood], limits: { lifetimeMs: 3000, logHeadBytes: 2 ** 40 } }));
    await until('init is gone', async () => !existsSync(`/proc/${pid}`));
    const report = await init.until(() => false);
    assert.deepEqual(report.of('end'), []);
    assert.equal(await init.engine.wait(init.container, 60_000), 71);
  });

  test('also ends a waiting cell that gets no START', async () => {
    await using init = await Init.start(bed(), runtime);
    const frames = init.hello().map((frame) => (frame.type === 'hello' ? { ...frame, lifetimeMs: 1000 } : frame));
    await init.talk.send(frames);
    assert.equal(await init.engine.wait(init.container, 60_000), 71);
    const state = await until('the container has ended', async () => {
      const found = await init.engine.inspect(init.container);
      return found?.State.Running === false && found.State;
    });
    assert.equal(state.ExitCode, 71);
  });
});
