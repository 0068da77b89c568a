import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isAsDocumented } from '../../newcomers/as-documented.ts';
import { recipesIn } from '../../newcomers/read-recipes.ts';

describe('a text is as documented', () => {
  for (const [documented, text, is] of [
    ['45', '45\n', true],
    ['45', '46\n', false],
    ['45', '45\n46\n', false],
    ['a…z', 'a to z', true],
    ['a…z', 'a to y', false],
    ['a…b…c', 'a b c', true],
    ['a…b…c', 'acb', false],
    ['aa…a', 'aa', false],
    ['first\n…\nlast', 'first\nlast', true],
    ['first\n…\nlast', 'first\n1\n2\nlast', true],
    ['first\n…\nlast', 'first\n1\nlast\nmore', false],
    ['…\nb\n…', 'a\nb\nc\nb', true],
    ['…\nd\n…', 'a\nb\nc', false],
    ['…\nx', 'x\nx', true],
  ] as const)
    test(`${JSON.stringify(documented)} ${is ? 'describes' : 'does not describe'} ${JSON.stringify(text)}`, () =>
      assert.equal(isAsDocumented(documented, text), is));

  test('many lines are compared in time that grows with them', () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => `line ${at}`).join('\n');
    assert.equal(isAsDocumented(`…\nline 1999`, lines), true);
    assert.equal(isAsDocumented(`…\n…\n…\nother`, lines), false);
  });
});

const page = (...lines: string[]) => recipesIn('page.md', lines.join('\n'));

describe('a page', () => {
  test('is pasted block by block, and the text block behind one is what it prints', () => {
    const found = page(
      '```sh',
      'echo 1',
      '```',
      '```text',
      '1',
      '```',
      '```text',
      'a picture',
      '```',
      '```ts',
      '2',
      '```',
    );
    assert.deepEqual(
      found.map(({ line, language, code, expected }) => [line, language, code, expected]),
      [
        [1, 'sh', 'echo 1', '1'],
        [10, 'ts', '2', undefined],
      ],
    );
  });

  test('says why a block is not pasted', () => {
    assert.deepEqual(page('```sh not-run: it needs a bucket', 'x', '```'), []);
    assert.throws(() => page('```sh skip', 'x', '```'), /page\.md:1: "sh skip"/);
  });

  test('has no block without a language, in which a command could hide', () => {
    assert.throws(() => page('```', './hotcell nosuch', '```'), /page\.md:1: a code block of the language ""/);
  });
});
