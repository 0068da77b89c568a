import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readNotebook } from '@hotcell/cli/notebook.ts';
import { growsNoFaster } from '../../../support/growth.ts';

const cell = (source: string | string[], type = 'code') => ({ cell_type: type, source, outputs: [{ data: 1 }] });
const notebook = (cells: unknown[], metadata = {}) =>
  JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata, cells });
const block = (text: string) => readNotebook(text, 'nb.ipynb').block;

describe('a notebook', () => {
  test('is its code cells in order, as one program, because a cell uses what those before it define', () => {
    const text = notebook([
      cell('# Title', 'markdown'),
      cell(['x = 1\n', 'y = 2']),
      cell('  \n'),
      cell('print(x + y)\n'),
    ]);
    const code = '# code cell 1\nx = 1\ny = 2\n\n# code cell 2\nprint(x + y)\n';
    assert.deepEqual(readNotebook(text, 'nb.ipynb'), { cells: 2, block: { language: 'python', code }, name: 'nb.py' });
  });
  test('has the language that it names', () => {
    assert.equal(block(notebook([cell('1')], { kernelspec: { language: 'R' } })).language, 'r');
    assert.equal(block(notebook([cell('1')], { language_info: { name: 'javascript' } })).code, '// code cell 1\n1\n');
  });
  test('keeps lines that only change how it looks as comments, so that line numbers stay', () =>
    assert.equal(
      block(notebook([cell('%matplotlib inline\nx = 1')])).code,
      '# code cell 1\n# %matplotlib inline\nx = 1\n',
    ));
  test('may calculate with percent signs and negate', () =>
    assert.match(block(notebook([cell('y = (7\n % 3)\nz = x != 1')])).code, /% 3/));

  for (const [what, source, said] of [
    [
      'an installation',
      '!pip install x',
      /nb\.ipynb, code cell 1, line 1: !pip install x is a command of Jupyter.*Packages are part of the image/,
    ],
    ['a shell command', 'x = 1\n!ls', /line 2: !ls is a command of Jupyter, not Python\. Use subprocess\.run/],
    ['a cell of bash', '%%bash\nls', /%%bash is a command of Jupyter.*\.sh file/],
    ['a magic', '%timeit f()', /Remove it, or write it in Python/],
    ['a question', 'df.head?', /df\.head\? is a command of Jupyter/],
  ] as const)
    test(`with ${what} is refused with what to do`, () => assert.throws(() => block(notebook([cell(source)])), said));

  for (const [what, text, said] of [
    ['is not JSON', '{', /The notebook nb\.ipynb is not JSON/],
    ['has no cells', '{}', /nbformat.*metadata.*cells/],
    ['has an old format', '{"nbformat":3,"metadata":{},"cells":[]}', /nbformat: is an old format\. Open and save/],
    ['has nothing to run', notebook([cell('text', 'markdown')]), /nb\.ipynb has no code cells/],
  ] as const)
    test(`that ${what} is refused`, () => assert.throws(() => block(text), said));

  test('of long strange lines is read in linear time', () =>
    growsNoFaster({
      size: 20_000,
      make: (size) => notebook([cell(`${' '.repeat(size)}x\n${'a.'.repeat(size)}`.repeat(3))]),
      read: block,
    }));
  test('of many cells is read in linear time', () =>
    growsNoFaster({
      size: 3_000,
      make: (size) => notebook(Array.from({ length: size }, () => cell(['x = 1\n', 'y?=']))),
      read: block,
    }));
});
