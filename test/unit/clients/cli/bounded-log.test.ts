import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundedLog } from '@hotcell/cli/evidence/bounded-log.ts';
import type { LogRow } from '@hotcell/contract/log-rows.ts';

async function* endless(text: string): AsyncGenerator<LogRow> {
  for (let seq = 0; ; seq++) yield { seq, at: '2026-01-01T00:00:00.000Z', block: 0, stream: 'stdout', text };
}

async function* some(count: number, text: string): AsyncGenerator<LogRow> {
  for await (const row of endless(text)) {
    if (row.seq === count) return;
    yield row;
  }
}

test('a log ends where its result says that it ends, however much it unpacks to', async () => {
  assert.equal((await Array.fromAsync(boundedLog(some(10, 'ab'), 20))).length, 10);
  for (const text of ['ab', ''])
    await assert.rejects(Array.fromAsync(boundedLog(endless(text), 20)), /unpacks to more than the 20 bytes/);
});
