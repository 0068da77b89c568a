import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { ends, openTestCells, runIn, type TestCells } from '../support/cells.ts';
import { testLimits } from '../support/limits.ts';

let bed: Bed;
let made: TestCells;
before(async () => {
  bed = await openBed();
  made = await openTestCells(bed, 'sizes');
});
after(async () => {
  await made?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

for (const runtime of ['runc', 'gvisor'] as const)
  suite(`a cell on ${runtime}`, () => {
    const said = async (code: string, more: Partial<CellPlan>) => {
      const job = prepareJob({ blocks: [{ language: 'python', code }], files: [] }, languages);
      const told = await runIn(made.cells, made.plan(runtime, more), job);
      assert.deepEqual(ends(told), [0], told.logs.join(''));
      return (told.logs[0] ?? '').trim();
    };

    test('may have sizes that are no whole number of pages', async () => {
      const limits = { ...testLimits, memoryBytes: 300_000_001, scratchBytes: 10_000_001, outputBytes: 1_000_003 };
      assert.equal(await said('print(1)', { limits }), '1');
    });
    test('may have variables of any length that a policy can allow', async () => {
      const env = { LONG: 'ä'.repeat(30_000), EXACT: 'x'.repeat(512 - 'EXACT='.length), EMPTY: '' };
      const code = 'import os; print(len(os.environ["LONG"]), len(os.environ["EXACT"]), os.environ["EMPTY"] == "")';
      assert.equal(await said(code, { env }), '30000 506 True');
    });
    test('sees as many processors as the policy gives it, and may say how many threads it wants', async () => {
      const limits = { ...testLimits, cpus: 0.5 };
      const code =
        'import os; print(os.cpu_count(), len(os.sched_getaffinity(0)), os.environ["OMP_NUM_THREADS"], os.environ["MKL_NUM_THREADS"])';
      assert.equal(await said(code, { limits, env: { MKL_NUM_THREADS: '4' } }), '1 1 1 4');
    });
  });
