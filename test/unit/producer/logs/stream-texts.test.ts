import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogRow } from '@hotcell/contract/log-rows.ts';
import { streamTexts } from '@hotcell/producer/logs/stream-texts.ts';

type Said = readonly ['stdout' | 'stderr', string | number];
async function* rows(...all: readonly Said[]): AsyncGenerator<LogRow> {
  for (const [seq, [stream, said]] of all.entries()) {
    const row = { seq, at: new Date(0).toISOString(), block: 0, stream };
    yield typeof said === 'number' ? { ...row, dropped: said } : { ...row, text: said };
  }
}

test('each stream is a text of its own, whole if it is short', async () => {
  const texts = await streamTexts(rows(['stdout', 'a'], ['stderr', 'oh'], ['stdout', '\n']));
  assert.deepEqual(texts, { stdout: 'a\n', stderr: 'oh', truncated: false });
});

test('of a long stream the first and the last 32 KiB are given, and the rest is counted', async () => {
  const half = 32 * 1024;
  const many = Array.from({ length: 1000 }, () => ['stdout', 'm'.repeat(1000)] as const);
  const { stdout, stderr, truncated } = await streamTexts(
    rows(['stdout', 'h'.repeat(half)], ...many, ['stderr', 'e'.repeat(2 * half)], ['stdout', 't'.repeat(half)]),
  );
  assert.equal(stdout, `${'h'.repeat(half)}\n[… 1000000 bytes left out …]\n${'t'.repeat(half)}`);
  assert.equal(stderr, 'e'.repeat(2 * half), 'head and tail together are the whole');
  assert.equal(truncated, true);
});

test('bytes that the log limit cut count as left out', async () => {
  const { stdout, truncated } = await streamTexts(rows(['stdout', 'a'], ['stdout', 7], ['stdout', 'z']));
  assert.equal(stdout, 'a\n[… 7 bytes left out …]\nz');
  assert.equal(truncated, true);
});
