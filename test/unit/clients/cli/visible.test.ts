import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visible, visibleLine } from '@hotcell/cli/visible.ts';
import fc from 'fast-check';

test('control sequences are shown, not obeyed', () => {
  assert.equal(visible('\x1b[31mred\x1b[0m\x07'), '^[[31mred^[[0m^G');
  assert.equal(visible('50%\rdone'), '50%^Mdone');
  assert.equal(visible('\x9b2J'), '<U+009B>2J');
  assert.equal(visible('evil\u202Etxt.exe'), 'evil<U+202E>txt.exe');
  assert.equal(visible('a\u2028b\u200b'), 'a<U+2028>b<U+200B>');
});

test('what people write is left as it is', () => {
  for (const text of ['plain\tand\nlines\n', 'größe ✓ 数据 😀', '']) assert.equal(visible(text), text);
  assert.equal(visible('one\r\ntwo'), 'one\ntwo');
});

test('whatever is written, nothing that a terminal obeys is left of it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.doesNotMatch(visible(text), /(?![\n\t])\p{Cc}|\p{Cf}/u);
      assert.doesNotMatch(visibleLine(text), /\p{Cc}|\p{Cf}/u);
    }),
  );
});
