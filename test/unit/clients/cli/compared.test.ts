import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compareRuns } from '@hotcell/cli/compare/compared-runs.ts';
import { comparedTables } from '@hotcell/cli/compare/compared-tables.ts';
import { tablesAmong } from '@hotcell/cli/compare/describe-tables.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { growsNoFaster } from '../../../support/growth.ts';
import { reported } from './report/reported.ts';

const run = reported('word');
const spec = run.spec ?? assert.fail();
const withCode = (code: string) => ({ ...run, spec: { ...spec, blocks: [{ language: 'python', code }] } });

describe('two runs', () => {
  test('that are equal differ in nothing', () => {
    const { facts, code, params, inputs, outputs } = compareRuns(run, run);
    assert.deepEqual([facts, code, params, inputs], [[], [], [], []]);
    assert.deepEqual([outputs.added, outputs.removed, outputs.changed, outputs.same], [[], [], [], 3]);
  });
  test('are compared by code, params, inputs, outputs and what they were run with', () => {
    const other = {
      spec: { ...spec, blocks: [{ language: 'python', code: 'print(2)\n' }], params: { word: 'other', more: 1 } },
      result: {
        ...run.result,
        outcome: 'succeeded' as const,
        inputs: [{ name: 'sales', snapshot: sha256('y') }],
        outputs: { ...run.result.outputs, files: [{ path: 'new', size: 1, sha256: sha256('z') }] },
      },
    };
    const found = compareRuns(
      { ...run, spec: { ...spec, blocks: [{ language: 'python', code: 'print(1)\n' }] } },
      other,
    );
    assert.deepEqual(found.facts, [{ what: 'outcome', before: 'failed', after: 'succeeded' }]);
    assert.match(found.code[0]?.patch ?? '', /^-print\(1\)\n\+print\(2\)$/m);
    assert.deepEqual(found.params, [
      { what: 'word', before: '"word"', after: '"other"' },
      { what: 'more', before: null, after: '1' },
    ]);
    assert.deepEqual(found.inputs, [{ what: 'sales', before: sha256('x'), after: sha256('y') }]);
    assert.deepEqual([found.outputs.added.length, found.outputs.removed.length], [1, 3]);
  });
  test('whose code differs everywhere are told apart without a patch, in bounded time', async () => {
    const lines = (word: string, size: number) => Array.from({ length: size }, (_, i) => `${word}${i}\n`).join('');
    const [name, patch] = Object.values(
      compareRuns(withCode(lines('a', 5_000)), withCode(lines('b', 5_000))).code[0] ?? {},
    );
    assert.deepEqual([name, patch], ['block 0 (python)', null]);
    await growsNoFaster({
      size: 2_000,
      make: (size) => [withCode(lines('a', size)), withCode(lines('b', size))],
      read: ([a, b]: [typeof run, typeof run]) => compareRuns(a, b),
    });
  });
});

describe('tables', () => {
  const table = (rows: number, columns: [string, string, string | null][]) => ({
    path: 'sales.csv',
    rows,
    columns: columns.map(([name, type, total]) => ({ name, type, total })),
    more: 0,
  });
  test('are shown by rows, and by the columns that differ', () => {
    const text = comparedTables([
      {
        side: 'before',
        ...table(4000, [
          ['day', 'DATE', null],
          ['units', 'BIGINT', '7'],
          ['old', 'DOUBLE', '1.5'],
        ]),
      },
      {
        side: 'after',
        ...table(4100, [
          ['day', 'DATE', null],
          ['units', 'DOUBLE', '8.5'],
          ['new\u001b', 'BIGINT', '1'],
        ]),
      },
    ]);
    assert.equal(
      text,
      `sales.csv: 4,000 → 4,100 rows, 3 columns
         COLUMN  TYPE             TOTAL
changed  units   BIGINT → DOUBLE  7 → 8.5
removed  old     DOUBLE           1.5
added    new^[   BIGINT           1
`,
    );
  });
  test('of one side, and those that could not be read, say so', () => {
    const text = comparedTables([
      { side: 'after', ...table(1, [['n', 'BIGINT', '1']]) },
      { side: 'before', path: 'bad.parquet', problem: 'too small' },
    ]);
    assert.match(text, /^sales\.csv: 1 row, 1 column\n {2}COLUMN/);
    assert.match(text, /bad\.parquet \(before\): not read: too small/);
  });
  test('are read as far as one run may read', () => {
    const files = Array.from({ length: 60 }, (_, i) => ({ side: 'after' as const, path: `${i}.csv`, size: 1 }));
    const other = { side: 'after' as const, path: 'a.txt', size: 1 };
    assert.deepEqual([tablesAmong([...files, other]).tables.length, tablesAmong(files).left], [40, 20]);
    assert.equal(tablesAmong([{ ...other, path: 'a.parquet', size: 2 ** 40 }]).tables.length, 0);
  });
});
