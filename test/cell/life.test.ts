import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import type { CellEvent, SealedCell } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { ends, follow, openTestCells, runIn, type TestCells } from '../support/cells.ts';
import { testLimits } from '../support/limits.ts';

let bed: Bed;
let made: TestCells;
before(async () => {
  bed = await openBed();
  made = await openTestCells(bed, 'life');
});
after(async () => {
  await made?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const python = (...codes: string[]) =>
  prepareJob({ blocks: codes.map((code) => ({ language: 'python', code })), files: [] }, languages);

/** Ignores SIGTERM, and so do its children, in sessions of their own. */
const stubborn = `
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            break
        os._exit(0)
print("here", flush=True)
while True:
    time.sleep(1)
`;

/** Follows a cell that is killed at its first output. */
async function killedWhenHeard(cell: SealedCell, how: () => unknown): Promise<CellEvent[]> {
  const events: CellEvent[] = [];
  let heard = false;
  for await (const event of cell.run(python(stubborn, 'print("never")'))) {
    events.push(event);
    if (event.type !== 'log' || heard) continue;
    heard = true;
    await how();
  }
  return events;
}

for (const runtime of ['runc', 'gvisor'] as const)
  suite(`a cell on ${runtime}`, () => {
    test('reports its posture, from inside and outside, before it gets any code', async () => {
      const cell = await made.cells.open(made.plan(runtime));
      try {
        assert.match(String(cell.posture.inside.caps), /effective=0000000000000000/);
        assert.match(String(cell.posture.outside.runtime), runtime === 'gvisor' ? /^runsc\b/ : /^(runc|crun)\b/);
        assert.equal(cell.posture.outside.image, bed.images.python.digest);
        assert.match(cell.posture.worth, runtime === 'gvisor' ? /sentry/ : /kernel/);
      } finally {
        await cell.destroy();
      }
    });

    test('runs blocks in order and stops at the first that fails', async () => {
      const job = python('open("a", "w").write("1")', 'print(open("a").read()); exit(3)', 'print("never")');
      const told = await runIn(made.cells, made.plan(runtime), job);
      assert.deepEqual(ends(told), [0, 3]);
      assert.equal(told.logs[1], '1\n');
      assert.equal(told.events.at(-1)?.type, 'end');
    });

    test('hands over outputs byte for byte, and names the refused ones', async () => {
      const told = await runIn(
        made.cells,
        made.plan(runtime),
        python(`
import os
os.makedirs("/outputs/a/b")
open("/outputs/a/b/bytes", "wb").write(bytes(range(256)) * 5000)
open("/outputs/empty", "w")
os.symlink("/etc/passwd", "/outputs/link")
os.mkfifo("/outputs/fifo")
`),
      );
      assert.deepEqual([...told.outputs.keys()].toSorted(), ['a/b/bytes', 'empty']);
      const bytes = told.outputs.get('a/b/bytes');
      assert.ok(
        bytes?.equals(Buffer.concat(Array<Buffer>(5000).fill(Buffer.from(Array.from({ length: 256 }, (_, i) => i))))),
      );
      const refused = told.events.flatMap((event) =>
        event.type === 'output_refused' ? [`${event.path.toString()}: ${event.reason}`] : [],
      );
      assert.deepEqual(refused.toSorted(), ['fifo: it is a fifo', 'link: it is a symbolic link']);
    });

    test('has the bundled files beside its blocks and cannot change them', async () => {
      const job = prepareJob(
        {
          blocks: [
            {
              language: 'bash',
              code: 'cat lib/data.txt; echo x > lib/data.txt || echo denied; ls -l /cell-init | cut -c1-10',
            },
          ],
          files: [{ path: 'lib/data.txt', text: 'bundled\n' }],
        },
        languages,
      );
      const told = await runIn(made.cells, made.plan(runtime), job);
      assert.match(told.logs[0] ?? '', /^bundled\n/);
      assert.match(told.logs[0] ?? '', /denied/);
    });

    test('that is killed ends every process, even detached ones that ignore SIGTERM, and reports it', async () => {
      const cell = await made.cells.open(made.plan(runtime));
      try {
        const events = await killedWhenHeard(cell, () => cell.kill('cancelled'));
        assert.deepEqual(
          events.flatMap((event) => (event.type === 'block_ended' ? [event.end.signal] : [])),
          [9],
        );
        assert.equal(events.at(-1)?.type, 'end');
      } finally {
        await cell.destroy();
      }
    });

    test('that is killed before its job has started does not run it', async () => {
      const cell = await made.cells.open(made.plan(runtime));
      try {
        cell.kill('draining');
        const told = await follow(cell, python(stubborn));
        assert.notEqual(ends(told)[0], 0);
        assert.equal(told.events.at(-1)?.type, 'end');
      } finally {
        await cell.destroy();
      }
    });

    test('that is killed from outside is reported dead, with the account of what made it', async () => {
      const cell = await made.cells.open(made.plan(runtime));
      try {
        const events = await killedWhenHeard(cell, () => made.killFromOutside(cell));
        assert.deepEqual(events.at(-1), { type: 'died', exitCode: 137, engineSaysOom: false, oomKills: 0 });
      } finally {
        await cell.destroy();
      }
    });

    test('leaves nothing, even when it is destroyed while busy', async () => {
      const cell = await made.cells.open(made.plan(runtime));
      await assert.rejects(
        killedWhenHeard(cell, () => void cell.destroy()),
        { code: 'cell_failed' },
      );
      await cell.destroy();
      assert.equal(await made.isThere(cell), false);
      const inState = readdirSync(made.stateDir, { recursive: true }).map(String);
      assert.deepEqual(
        inState.filter((path) => path.includes(cell.id)),
        [],
      );
    });

    test('is used once', async () => {
      const cell = await made.cells.open(made.plan(runtime));
      try {
        await follow(cell, python('1'));
        await assert.rejects(follow(cell, python('1')), { code: 'cell_failed' });
      } finally {
        await cell.destroy();
      }
    });

    test('names the interpreter that its image lacks', async () => {
      const told = await runIn(made.cells, made.plan(runtime, { image: bed.images.minimal }), python('1'));
      assert.match(String(ends(told)[0]), /the image has no python3/);
    });

    test('runs an image that has neither shell nor libraries', async () => {
      const job = prepareJob({ blocks: [{ argv: ['/bin/minimal', 'echo', 'hello'] }], files: [] }, languages);
      const told = await runIn(made.cells, made.plan(runtime, { image: bed.images.minimal }), job);
      assert.deepEqual([ends(told), told.logs], [[0], ['hello\n']]);
    });

    test('whose block reaches its time limit says so and keeps its log', async () => {
      const plan = made.plan(runtime, { limits: { ...testLimits, blockTimeoutSeconds: 6, graceSeconds: 0 } });
      const told = await runIn(made.cells, plan, python(stubborn));
      assert.deepEqual(ends(told), ['timed out']);
      assert.match(told.logs[0] ?? '', /here/);
    });
  });
