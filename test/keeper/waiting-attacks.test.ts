import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { languages } from '@hotcell/contract/languages.ts';
import { type Job, prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { ends, runIn, type TestCells } from '../support/cells.ts';
import { openWaitedCells } from '../support/waited-cells.ts';
import { loadAttacks, observationIn, runtimes } from '../hostile/support/load.ts';
import { runSealed } from '../hostile/support/sealed.ts';
import { withstands } from '../hostile/support/withstands.ts';

/**
 * The attacks whose end could differ in a cell that waited: on init, mounts, inputs, neighbours, the environment and what
 * is left. That each of them succeeds where nothing prevents it is shown in test/hostile.
 */
const could = /^(07a|07b|10|12|13|14|15|42|64|65|66|69|70|71)-/;
const attacks = (await loadAttacks()).filter(({ name }) => could.test(name));

let bed: Bed;
let cells: TestCells & AsyncDisposable;
before(async () => {
  bed = await openBed();
  cells = await openWaitedCells(bed, 'waited-hostile');
});
after(async () => {
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
      const things = {
        port: 9,
        abstract: 'nothing',
        state: place,
        secretPlace: place,
        secret: 'hotcell-worker-secret',
      };
      process.env['SOMETHING_SECRET'] = things.secret;
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

test('each of these attacks is there', () => {
  assert.equal(attacks.length, 15);
});
