import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { encodeName, representable } from '@hotcell/executor-worker/outputs/output-names.ts';
import { decodeName } from '../../../support/decode-name.ts';

describe('the names of outputs', () => {
  test('are encoded reversibly, so that no two look alike', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
        const encoded = encodeName(bytes);
        assert.deepEqual(decodeName(encoded), Buffer.from(bytes));
        assert.doesNotMatch(encoded, /\p{Cc}/u);
      }),
      { numRuns: 3000 },
    );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (name) =>
        assert.equal(decodeName(encodeName(Buffer.from(name))).toString(), name),
      ),
    );
  });

  test('are kept as they are if every system can have them', () => {
    for (const path of ['a', 'plot.png', 'deep/er/file', 'näme with space', '漢字', '%41', 'a:b'])
      assert.deepEqual(representable(Buffer.from(path)), { path });
  });

  for (const [what, name] of [
    ['a newline', Buffer.from('a\nb')],
    ['an escape', Buffer.from('a\u001b[31m')],
    ['a turn of direction', Buffer.from('txt.\u202egnp')],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0xff])],
    ['a NUL', Buffer.from('a\0b')],
    ['a way out', Buffer.from('../x')],
    ['an absolute path', Buffer.from('/x')],
    ['an empty part', Buffer.from('a//b')],
    ['nothing', Buffer.from('')],
  ] as const) {
    test(`are refused with ${what}`, () => {
      assert.ok('reason' in representable(name));
      assert.doesNotMatch(encodeName(name), /\p{Cc}|\u202e/u);
    });
  }
});
