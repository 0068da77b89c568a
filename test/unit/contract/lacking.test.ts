import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileNamedIn, lackingReason, readLastWords } from '@hotcell/contract/lacking.ts';
import { missingReason } from '@hotcell/contract/missing-package.ts';

const fileIn = (stderr: string) => {
  const lacking = readLastWords(stderr, 1);
  return lacking?.what === 'file' ? lacking.path : lacking?.what;
};

describe('what failed code lacks is read from its last words', () => {
  for (const [stderr, found] of [
    ["Traceback…\nFileNotFoundError: [Errno 2] No such file or directory: 'data.csv'\n", 'data.csv'],
    ["FileNotFoundError: [Errno 2] No such file or directory: '/inputs/sales.csv'", '/inputs/sales.csv'],
    [
      "Error: ENOENT: no such file or directory, open 'Q3 report.csv'\n    at open (node:fs)\n  errno: -2",
      'Q3 report.csv',
    ],
    ['cat: /inputs/über.csv: No such file or directory', '/inputs/über.csv'],
    ['/work/a.sh: line 3: ./missing.sh: No such file or directory', './missing.sh'],
    ['Traceback…\nEOFError: EOF when reading a line\n', 'keyboard'],
    ["ModuleNotFoundError: No module named 'requests'", 'Python module'],
    ["FileNotFoundError: [Errno 2] No such file or directory: 'a\u001b[31m'", undefined],
    ['all is well', undefined],
  ] as const)
    test(stderr, () => assert.equal(fileIn(stderr), found));
});

describe('the reason says what to do', () => {
  const file = (path: string) => ({ what: 'file', path }) as const;
  test('a run without inputs is told so', () =>
    assert.match(
      lackingReason(file('/inputs/a.csv'), []),
      /did not find the file \/inputs\/a\.csv: the run was given no inputs/,
    ));
  test('a run with other inputs is told their places', () =>
    assert.match(lackingReason(file('/inputs/a.csv'), ['sales', 'day']), /given \/inputs\/sales, \/inputs\/day\.$/));
  test('a path of the submitter’s machine is told how data comes in', () =>
    assert.match(lackingReason(file('data.csv'), []), /Pass data as an input and read it at \/inputs\/NAME/));
  test('a question at a keyboard is told of params', () =>
    assert.match(
      lackingReason({ what: 'keyboard' }, []),
      /keyboard, which a run does not have\. Pass values as params/,
    ));
  test('the file can be found again in the reason', () => {
    for (const path of ['data.csv', '/inputs/a b.csv'])
      assert.equal(fileNamedIn(`Your code failed. ${lackingReason(file(path), ['x'])}`), path);
    assert.equal(fileNamedIn('Your code failed (exit code 1).'), undefined);
  });
  test('a mistyped module is named as it was probably meant', () => {
    const reason = (name: string) => missingReason({ what: 'Python module', name, package: name });
    assert.match(reason('panda'), /Did you mean pandas\?$/);
    assert.doesNotMatch(reason('util'), /Did you mean/);
    assert.doesNotMatch(reason('pandas'), /Did you mean/);
  });
});
