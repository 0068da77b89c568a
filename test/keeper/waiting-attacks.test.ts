import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { languages } from '@hotcell/contract/languages.ts';
import { type Job, prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { ends, runIn, type TestCells } from '../support/cells.ts';
import { openWaitedCells } from '../support/waited-cells.ts';
import { attacksNamed, observationIn, runtimes } from '../hostile/support/load.ts';
import { runSealed } from '../hostile/support/sealed.ts';
import { withstands } from '../hostile/support/withstands.ts';

/**
 * The attacks whose end could differ in a cell that waited: on init, mounts, inputs, neighbours, the environment and what
 * is left. That each of them succeeds where nothing prevents it is shown in test/hostile.
 */
const attacks = await attacksNamed(
  '07a-reach-init',
  '07b-rewrite-the-next-block',
  '10-find-a-loose-mount',
  '12-inherit-something',
  '13-change-the-inputs',
  '14-find-a-socket',
  '15-enter-what-was-handed-on',
  '42-meet-a-neighbour',
  '42-signal-a-neighbour',
  '64-read-the-environment',
  '65-learn-where-it-runs',
  '66-learn-paths-of-the-host',
  '69-find-an-earlier-run',
  '70-find-other-tenants',
  '71-find-a-secret',
);
const secret = 'hotcell-worker-secret';

let bed: Bed;
let cells: TestCells & AsyncDisposable;
before(async () => {
  // This process is the worker of these cells: no cell may find this secret.
  process.env['SOMETHING_SECRET'] = secret;
  bed = await openBed();
  cells = await openWaitedCells(bed, 'waited-hostile');
});
after(async () => {
  delete process.env['SOMETHING_SECRET'];
  await cells?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const benign = ['asyncio_everything.py', 'pandas_frames.py', 'temporary_files.py'];

async function benignJob(): Promise<Job> {
  const read = (file: string) => readFile(join(import.meta.dirname, '../cell/benign/python', file), 'utf8');
  const blocks = benign.map(async (file) => ({ language: 'python', code: await read(file), file }));
  return prepareJob({ blocks: await Promise.all(blocks), files: [] }, languages);
}

for (const runtime of runtimes)
  suite(`on ${runtime}`, () => {
    let sealed: ReadonlyMap<string, string>;
    before(async () => {
      const place = await bed.shortFolder();
      const things = { port: 9, abstract: 'nothing', state: place, secretPlace: place, secret };
      sealed = await runSealed(cells, runtime, attacks, things);
    });
    for (const attack of attacks)
      test(`a cell that waited withstands an attempt ${attack.tries} (${attack.lines})`, () =>
        withstands(attack, runtime, observationIn(sealed.get(attack.name) ?? '', attack.name, 'the cell')));
  });

for (const runtime of runtimes)
  test(`ordinary programs run in a cell that waited on ${runtime} as they do anywhere else`, async () => {
    const plan = cells.plan(runtime, { image: bed.images.python });
    const told = await runIn(cells.cells, plan, await benignJob());
    assert.deepEqual(
      ends(told),
      benign.map(() => 0),
      told.logs.join('\n'),
    );
  });
