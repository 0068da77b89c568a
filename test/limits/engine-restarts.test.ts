import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import type { SealedCell } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { openTestCells, runIn, type TestCells } from '../support/cells.ts';
import { openOwnEngine, type OwnEngine } from '../support/own-engine.ts';

let bed: Bed;
let own: OwnEngine;
let made: TestCells;
before(async () => {
  bed = await openBed();
  own = await openOwnEngine(bed, bed.images.minimal.digest);
  made = await openTestCells(bed, 'restarts', bed.id(), { dockerHost: own.socket });
});
after(async () => {
  await made?.[Symbol.asyncDispose]();
  await own?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const job = (...argv: string[]) => prepareJob({ blocks: [{ argv }], files: [] }, languages);
const plan = () => made.plan('runc', { image: bed.images.minimal });
const left = async () => [
  ...(await own.engine.list(['hotcell.managed=1'])).map(({ name }) => name),
  ...(await readdir(join(made.stateDir, 'cells'))),
];

/** Runs a program that writes endlessly, and calls `then` at its first output. */
async function atWork(cell: SealedCell, then: () => Promise<void>): Promise<void> {
  let happened: Promise<void> | undefined;
  for await (const event of cell.run(job('/bin/minimal', 'cat', '/dev/zero')))
    if (event.type === 'log') await (happened ??= then());
}

for (const [what, happens] of [
  ['is killed and comes back', () => own.crash()],
  ['goes down with its machine', () => own.loseAll()],
] as const)
  test(`an engine that ${what} costs the attempts in its cells, leaves nothing of them, and serves the worker again`, async () => {
    const waiting = await made.cells.open(plan());
    const busy = await made.cells.open(plan());
    await assert.rejects(
      atWork(busy, async () => await happens()),
      (error: Error & { code?: string }) => /engine_unavailable|stream_broken|cell_failed/.test(error.code ?? ''),
    );
    await own.start();
    // As the worker does after every attempt. The reaper removes what cannot be destroyed.
    await Promise.all([waiting, busy].map((cell) => cell.destroy()));
    await made.cells.reap(() => true);
    assert.deepEqual(await left(), []);
    const told = await runIn(made.cells, plan(), job('/bin/minimal', 'echo', 'again'));
    assert.equal(told.logs[0], 'again\n');
  });

test('when the worker is gone too, the next one removes what both left', async () => {
  const cells = [await made.cells.open(plan()), await made.cells.open(plan())];
  await own.loseAll();
  await own.start();
  const next = await openTestCells(bed, 'next', made.installation, { dockerHost: own.socket });
  assert.equal((await left()).length, 2 * cells.length, 'containers and folders');
  await next.cells.reap(() => false);
  // A cell's folder is removed by its own worker, once that is back, although it remembers nothing of it.
  await using back = await openTestCells(bed, 'back', made.installation, {
    dockerHost: own.socket,
    worker: made.worker,
    stateDir: made.stateDir,
  });
  await back.cells.reap(() => true);
  assert.deepEqual(await left(), []);
  await Promise.all(cells.map((cell) => cell.destroy()));
});
