import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitTable } from '@hotcell/contract/limits.ts';
import { nameProblems } from '@hotcell/contract/snapshot-names.ts';
import fc from 'fast-check';

const offenders = (paths: readonly string[]) => nameProblems(paths).map((problem) => problem.path);

test('every path that leads out, is absolute, has empty parts or control characters is an offender', () => {
  const bad = [
    '../x',
    '/x',
    'a//b',
    '.',
    'a/./b',
    'a/..',
    'a/',
    'n\0ul',
    'li\nne',
    'esc\u001b[1m',
    'rtl\u202egpj',
    '',
    '\ud800',
  ];
  assert.deepEqual(offenders([...bad, 'good', 'also/good.csv']), bad.toSorted());
});

test('a path that no file system of ours can hold is an offender', () => {
  assert.deepEqual(offenders(['x'.repeat(255)]), []);
  assert.deepEqual(offenders(['x'.repeat(256)]), ['x'.repeat(256)]);
  assert.deepEqual(offenders(['ü'.repeat(128)]), ['ü'.repeat(128)]);
  const deep = Array.from({ length: 1800 }, () => 'd').join('/');
  assert.deepEqual(offenders([deep]), [deep]);
});

test('names that some file system takes for one are all offenders', () => {
  assert.deepEqual(offenders(['Data.csv', 'data.csv', 'other']), ['Data.csv', 'data.csv']);
  assert.deepEqual(offenders(['caf\u00e9', 'cafe\u0301']), ['cafe\u0301', 'caf\u00e9']);
  assert.deepEqual(offenders(['straße', 'STRASSE']), ['STRASSE', 'straße']);
});

test('a reason says what its path is, and does not name it again', () => {
  assert.deepEqual(nameProblems(['Data', 'data', 'In/x', 'in/y']), [
    { path: 'Data', reason: 'differs from "data" only in case or Unicode form' },
    { path: 'In/x', reason: 'lies in "In", which differs from "in" only in case or Unicode form' },
    { path: 'data', reason: 'differs from "Data" only in case or Unicode form' },
    { path: 'in/y', reason: 'lies in "in", which differs from "In" only in case or Unicode form' },
  ]);
});

test('what lies in folders that are taken for one is an offender, wherever in the path', () => {
  assert.deepEqual(offenders(['In/a', 'in/b', 'in/c/d', 'out/a']), ['In/a', 'in/b', 'in/c/d']);
  assert.deepEqual(offenders(['x/In/a', 'y/in/b']), []);
});

test('a file that is also a folder is an offender, with what lies in it', () => {
  assert.deepEqual(offenders(['a', 'a/b', 'ab']), ['a', 'a/b']);
  assert.deepEqual(offenders(['A', 'a/b']), ['A', 'a/b']);
  assert.deepEqual(offenders(['a/b/c/d', 'a/b', 'a/x']), ['a/b', 'a/b/c/d']);
});

test('a path given twice is an offender', () => {
  assert.deepEqual(offenders(['a', 'b', 'a']), ['a']);
});

test('the answer does not depend on the order of the paths', () => {
  const part = fc.constantFrom('a', 'A', 'b', 'caf\u00e9', 'cafe\u0301', '..', 'x\ny', '');
  const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  fc.assert(
    fc.property(fc.array(path, { maxLength: 12 }), fc.infiniteStream(fc.nat()), (paths, order) => {
      const shuffled = paths.map((p) => ({ p, at: order.next().value })).toSorted((a, b) => a.at - b.at);
      assert.deepEqual(nameProblems(shuffled.map(({ p }) => p)), nameProblems(paths));
    }),
    { numRuns: 300 },
  );
});

test('a hundred thousand sound names are judged without one of them being an offender', () => {
  const paths = Array.from({ length: 100_000 }, (_, i) => `year=${i % 30}/month=${i % 12}/part-${i}.parquet`);
  assert.deepEqual(nameProblems(paths), []);
});

test('as many files as any policy lets a run write are judged, each of them', () => {
  const { max } = limitTable.outputFiles;
  assert.deepEqual(nameProblems(Array.from({ length: max }, (_, i) => `part-${i}`)), []);
});

test('a hundred thousand files in folders of their own are sound, and deep paths without end are not', () => {
  assert.deepEqual(nameProblems(Array.from({ length: 100_000 }, (_, i) => `${i}/a/b/c`)), []);
  const endless = Array.from({ length: 1_000 }, (_, i) => `${i}${'/a'.repeat(1_700)}`);
  assert.match(nameProblems(endless)[0]?.reason ?? '', /the most that these paths may name/);
});
