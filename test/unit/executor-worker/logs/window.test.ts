import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { bytesOf, type LogRow } from '@hotcell/contract/log-rows.ts';
import { budgetOf, LogWindow } from '@hotcell/executor-worker/logs/window.ts';

const at = new Date(0);
const wide = { headBytes: 1_000_000, tailBytes: 1000 };

function record(
  budget: { headBytes: number; tailBytes: number },
  chunks: readonly (readonly ['stdout' | 'stderr', Buffer])[],
): LogRow[] {
  const window = new LogWindow(budget);
  return [...chunks.flatMap(([stream, bytes]) => window.push(0, stream, at, bytes)), ...window.finish()];
}
const joined = (rows: readonly LogRow[], stream: 'stdout' | 'stderr') =>
  Buffer.concat(rows.filter((row) => row.stream === stream).map(bytesOf));

describe('the window over a log', () => {
  test('keeps every byte of both streams, wherever the chunks were cut', () => {
    const chunk = fc.tuple(
      fc.constantFrom('stdout' as const, 'stderr' as const),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 30 }), (chunks) => {
        const rows = record(wide, chunks);
        for (const stream of ['stdout', 'stderr'] as const)
          assert.deepEqual(
            joined(rows, stream),
            Buffer.concat(chunks.filter(([s]) => s === stream).map(([, bytes]) => bytes)),
          );
        assert.deepEqual(
          rows.map((row) => row.seq),
          rows.map((_, i) => i),
        );
      }),
    );
  });

  test('shows text as text although a pipe cut it in the middle of a character', () => {
    const bytes = Buffer.from('naïve — 漢字 🙂');
    for (let cut = 1; cut < bytes.length; cut++) {
      const rows = record(wide, [
        ['stdout', bytes.subarray(0, cut)],
        ['stdout', bytes.subarray(cut)],
      ]);
      assert.ok(
        rows.every((row) => row.base64 === undefined),
        `cut at ${cut}`,
      );
      assert.equal(rows.map((row) => row.text).join(''), 'naïve — 漢字 🙂');
    }
  });

  test('keeps NUL, CR and bytes that are not UTF-8', () => {
    const bytes = Buffer.from([0, 13, 10, 0xff, 0xfe, 0xc3, 0x28, 0]);
    assert.deepEqual(joined(record(wide, [['stderr', bytes]]), 'stderr'), bytes);
  });

  test('keeps the head and the end of a log that is too long, and says how much is missing', () => {
    const whole = Buffer.from(Array.from({ length: 5000 }, (_, i) => `${i}\n`).join(''));
    const rows = record({ headBytes: 700, tailBytes: 300 }, [
      ['stdout', whole.subarray(0, 10_000)],
      ['stdout', whole.subarray(10_000)],
    ]);
    const mark = rows.findIndex((row) => row.dropped !== undefined);
    assert.deepEqual(joined(rows.slice(0, mark), 'stdout'), whole.subarray(0, 700));
    assert.deepEqual(joined(rows.slice(mark), 'stdout'), whole.subarray(whole.length - 300));
    assert.equal(rows[mark]?.dropped, whole.length - 1000);
  });

  test('counts what the cell itself dropped', () => {
    const window = new LogWindow({ headBytes: 10, tailBytes: 10 });
    const rows = window.push(0, 'stdout', at, Buffer.from('0123456789'));
    window.gap(1_000_000);
    rows.push(...window.push(0, 'stdout', at, Buffer.from('the end')), ...window.finish());
    assert.equal(window.written, 1_000_017);
    assert.deepEqual(
      rows.map((row) => row.dropped ?? row.text),
      ['0123456789', 1_000_000, 'the end'],
    );
    assert.equal(window.truncated, true);
  });

  test('leaves a quarter of the limit, at most 64 KiB, for the end', () => {
    assert.deepEqual(budgetOf(8 * 1024 * 1024), { headBytes: 8 * 1024 * 1024 - 65536, tailBytes: 65536 });
    assert.deepEqual(budgetOf(100), { headBytes: 75, tailBytes: 25 });
    assert.deepEqual(
      record(budgetOf(0), [['stdout', Buffer.from('x')]]).map((row) => row.dropped),
      [1],
    );
  });
});
