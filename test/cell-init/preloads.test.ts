import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inPreload } from '@hotcell/contract/frames.ts';
import { blockFrames } from '@hotcell/executor-worker/execute/job.ts';
import { onRuntimes } from './support/bed.ts';
import { Init, jobFrames, type Report, type TestJob } from './support/init.ts';

const seal = { type: 'seal', nonce: Buffer.alloc(32, 8) } as const;
const file = '.local/lib/python3.13/site-packages/usercustomize.py';
const ready = 'import os\nos.write(99, b"R")\n';
const waits = `${ready}assert os.read(99, 1) == b"G"\n`;
const ofPreload = ['block0.py'];

/** Gives a sealed init this preload; until it is ready, or init gave up. */
async function preload(init: Init, code: string, timeMs = 60_000): Promise<Report> {
  await init.seal();
  const block = { index: 0, argv: ['python3', ...ofPreload], file, code: Buffer.from(code) };
  const frames = [...blockFrames(block, timeMs)];
  await init.talk.send(frames.map((frame) => (frame.type === 'block' ? { ...frame, type: 'preload' } : frame)));
  return await init.until(({ type }) => type === 'preloaded' || type === 'error');
}

/** The hand-over: the posture once more, then the job. */
async function handOver(init: Init, job: TestJob): Promise<Report> {
  await init.talk.send([seal]);
  await init.until(({ type }) => type === 'postureEnd' || type === 'error');
  await init.talk.send(jobFrames(job));
  return await init.until(() => false);
}

const look = 'import sys, os; print("marked" in dir(sys), os.listdir("/work"), os.listdir("/proc/self/fd"))';
const marks = `${waits}os.close(99); import sys; sys.marked = 1\n`;

onRuntimes(['runc'], 'a preload', (runtime, bed) => {
  test('is the interpreter of the block whose command it has, and leaves no trace of itself', async () => {
    await using init = await Init.start(bed(), runtime);
    await preload(init, marks);
    const report = await handOver(init, { blocks: [{ code: look, args: ofPreload }, look] });
    assert.deepEqual(
      report.of('blockStarted').map(({ program }) => program),
      [inPreload, 0],
    );
    const [first, second] = report.stdout.trim().split('\n');
    assert.equal(first, "True ['block0.py'] ['0', '1', '2', '3']");
    assert.match(second ?? '', /^False /);
  });

  const others: [string, TestJob][] = [
    ['has another command', { blocks: [{ code: look, args: ['-X', 'utf8', ...ofPreload] }] }],
    ['has another environment', { blocks: [{ code: look, args: ofPreload }], env: { LATE: '1' } }],
  ];
  for (const [what, job] of others)
    test(`makes way for a block that ${what}`, async () => {
      await using init = await Init.start(bed(), runtime);
      await preload(init, marks);
      const report = await handOver(init, job);
      assert.equal(report.of('blockStarted')[0]?.program, 0);
      assert.equal(report.stdout, "False ['block0.py'] ['0', '1', '2', '3']\n");
    });

  const early: [string, string, number?][] = [
    ['wrote something', 'print("here")\nimport os\nos.read(99, 1)\n'],
    ['was not ready in time', 'import os\nos.read(99, 1)\n', 200],
    ['ended', 'import os\nos._exit(0)\n'],
    ['said something else', 'import os\nos.write(99, b"X")\nos.read(99, 1)\n'],
    ['started other processes', `import os\nif os.fork() == 0: os.read(99, 1)\n${waits}`],
    ['left files', `open("/tmp/left", "w").close()\n${waits}`],
    ['could not be removed', `open("/work/.local/left", "w").close()\n${waits}`],
  ];
  for (const [what, code, timeMs] of early)
    test(`that ${what} is the end of its cell before any code comes`, async () => {
      await using init = await Init.start(bed(), runtime);
      const report = await preload(init, code, timeMs);
      assert.equal(report.of('error')[0]?.code, 'preload', JSON.stringify(report.frames.at(-1)));
      assert.equal(await init.engine.wait(init.container, 60_000), 70);
    });

  const late: [string, string][] = [
    ['writes something', `${ready}os.write(1, b"x")\nos.read(99, 1)\n`],
    ['says something else', `${ready}os.write(99, b"R")\nos.read(99, 1)\n`],
    ['ends', `${ready}os._exit(0)\n`],
  ];
  for (const [what, code] of late)
    test(`that ${what} once it is ready is the end of its cell`, async () => {
      await using init = await Init.start(bed(), runtime);
      await preload(init, code);
      const report = await init.until(() => false);
      const [error] = report.of('error');
      assert.ok(error === undefined || error.code === 'preload');
      assert.equal(await init.engine.wait(init.container, 60_000), 70);
    });
});
