import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesOf, chunkOf, type LogRow } from '@hotcell/contract/log-rows.ts';
import { headAndTail } from '@hotcell/record/head-and-tail.ts';
import fc from 'fast-check';

const at = '2026-11-18T10:00:00.000Z';
const rowsOf = (chunks: readonly Uint8Array[]): LogRow[] =>
  chunks.map((chunk, seq) => ({ seq, at, block: 0, stream: 'stdout', ...chunkOf(chunk) }));

async function* from<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

test('a log of any shape gives its first and last bytes, and how many are left out between them', async () => {
  const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 0, max: 120 }), async (written, bytes) => {
      const whole = Buffer.concat(written);
      const pieces = await Array.fromAsync(headAndTail(from(rowsOf(written)), bytes));
      const gap = pieces.findIndex((piece) => piece.omitted !== undefined);
      const text = (some: readonly LogRow[]) => Buffer.concat(some.map(bytesOf));
      if (whole.length <= 2 * bytes) {
        assert.equal(gap, -1);
        assert.ok(text(pieces).equals(whole));
        return;
      }
      assert.ok(text(pieces.slice(0, gap)).equals(whole.subarray(0, bytes)));
      assert.ok(text(pieces.slice(gap + 1)).equals(bytes === 0 ? Buffer.alloc(0) : whole.subarray(-bytes)));
      assert.equal(pieces[gap]?.omitted, whole.length - 2 * bytes);
    }),
  );
});
