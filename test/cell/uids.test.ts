import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { uidsOf } from '@hotcell/contract/uid-range.ts';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import { openTestCells, runIn, type TestCells } from '../support/cells.ts';

const uids = uidsOf('300000-302047');
let bed: Bed;
let made: TestCells;
before(async () => {
  bed = await openBed();
  made = await openTestCells(bed, 'uids', bed.id(), { uids, dockerHost: engineSocket });
});
after(async () => {
  await made?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const job = prepareJob({ blocks: [{ language: 'bash', code: 'id -u' }], files: [] }, languages);

for (const runtime of ['runc', 'gvisor'] as const)
  test(`on ${runtime} jobs run as uids of the worker's range, each as one of its own`, async () => {
    const told = await Promise.all([0, 1].map(() => runIn(made.cells, made.plan(runtime), job)));
    const [one = Number.NaN, other = Number.NaN] = told.map(({ logs }) => Number(logs[0]));
    for (const uid of [one, other]) assert.ok(uid >= uids.first && uid <= uids.last, String(uid));
    assert.notEqual(one, other);
  });
