import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rowsText } from '@hotcell/cli/compare/differing-rows.ts';
import { reproductionOf } from '@hotcell/cli/compare/reproduction.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { reported } from './report/reported.ts';

const { result } = reported('word');
const [file] = result.outputs.files;
const withFiles = (...files: typeof result.outputs.files) => ({ ...result, outputs: { ...result.outputs, files } });

describe('a repetition', () => {
  test('is identical with the same end and the same bytes, whatever it took', () => {
    const after = { ...result, run: 'other', usage: { ...result.usage, cpuMs: 1 }, logs: { ...result.logs, bytes: 1 } };
    assert.equal(reproductionOf(result, after).identical, true);
  });

  test('differs by a file that is changed, added or left out, and by how it ended', () => {
    assert.ok(file);
    const rest = result.outputs.files.slice(1);
    for (const after of [
      withFiles({ ...file, sha256: sha256('z') }, ...rest),
      withFiles(...rest),
      withFiles(...result.outputs.files, { path: 'new', size: 1, sha256: sha256('n') }),
      { ...result, exitCode: 77 },
      { ...result, outcome: 'timed_out' as const },
    ])
      assert.equal(reproductionOf(result, after).identical, false);
    const { ends } = reproductionOf(result, { ...result, outcome: 'timed_out', exitCode: null });
    assert.match(ends?.after ?? '', /^timed_out/);
  });
});

test('rows that differ are shown side by side, and a stranger’s text is never written to a terminal as it is', () => {
  const table = { path: 't.csv', rows: [2, 3] as [number, number], columns: ['a', '\u001b[31m'] };
  const first = [
    { row: 2, before: ['1', '\u001b]0;x\u0007'], after: ['1', null] },
    { row: 3, before: null, after: ['2', 'b'] },
  ];
  const text = rowsText([
    { ...table, first },
    { path: 'u.csv', problem: 'no table' },
  ]);
  assert.equal(text.includes('\u001b'), false);
  assert.match(text, /^t\.csv: 2 → 3 rows\nROW/);
  assert.match(text, /3 +before +\(no such row\)/);
  assert.match(text, /u\.csv: not read: no table/);
  assert.match(rowsText([{ ...table, others: ['b'], first: [] }]), /columns: a, .* → b/);
  assert.match(rowsText([{ ...table, first: [] }]), /differ in how they are written/);
});
