import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { putLog, storedRows } from '@hotcell/record/run-logs.ts';
import { type Bed, openBed } from '../support/bed.ts';

let bed: Bed;
let store: Buckets;
before(async () => {
  bed = await openBed();
  store = bed.store('operator');
});
after(() => bed[Symbol.asyncDispose]());

const rowOf = (seq: number, text: string) => ({
  seq,
  at: '2026-01-01T00:00:00.000Z',
  block: 0,
  stream: 'stdout',
  text,
});
const compressed = (...texts: string[]) =>
  zstdCompressSync(texts.map((text, i) => `${JSON.stringify(rowOf(i, text))}\n`).join(''));
const chunksOf = async function* (bytes: Uint8Array) {
  yield bytes;
};
const read = async (result: Result) => (await Array.fromAsync(storedRows(store, result))).map(({ text }) => text);

function resultWith(sha: Digest, claim?: string): Result {
  const at = '2026-01-01T00:00:00.000Z';
  const of = { run: newRunId(), tenant: bed.tenant(), spec: null };
  return {
    ...emptyResult(of, undefined, { outcome: 'succeeded', reason: 'a test' }, new Date(at)),
    logs: { sha256: sha, bytes: 1, truncated: false },
    attempts: [{ attempt: 1, worker: 'w', claim, startedAt: at, finishedAt: at, outcome: 'succeeded' }],
  };
}

test('two attempts of the same number keep a log each, and the result leads to its own', async () => {
  const [mine, other] = [compressed('mine'), compressed('other')];
  const [first, second] = [resultWith(sha256(mine), randomUUID()), randomUUID()];
  const { tenant, run, attempts } = first;
  await putLog(store, { tenant, run, attempt: 1, claim: attempts[0]?.claim }, chunksOf(mine));
  await putLog(store, { tenant, run, attempt: 1, claim: second }, chunksOf(other));
  assert.deepEqual(await read(first), ['mine']);
});

test('a log that stands is not replaced', async () => {
  const mine = compressed('mine');
  const result = resultWith(sha256(mine), randomUUID());
  const place = { tenant: result.tenant, run: result.run, attempt: 1, claim: result.attempts[0]?.claim };
  await putLog(store, place, chunksOf(mine));
  await putLog(store, place, chunksOf(compressed('later')));
  assert.deepEqual(await read(result), ['mine']);
});

test('the log of an attempt of the previous version, which has no claim in its key, is read', async () => {
  const mine = compressed('old');
  const result = resultWith(sha256(mine));
  await store.put(store.record, recordKeys.log(result.tenant, result.run, { attempt: 1 }), mine);
  assert.deepEqual(await read(result), ['old']);
});

for (const [what, bytes] of [
  ['changed', compressed('changed')],
  ['cut off', compressed('mine').subarray(0, -4)],
  ['not compressed', Buffer.from('mine')],
] as const)
  test(`a log that is ${what} in the store is an error, and not a row of it is given`, async () => {
    const result = resultWith(sha256(compressed('mine')), randomUUID());
    const { tenant, run, attempts } = result;
    await putLog(store, { tenant, run, attempt: 1, claim: attempts[0]?.claim }, chunksOf(bytes));
    const rows: unknown[] = [];
    const reading = async () => {
      for await (const row of storedRows(store, result)) rows.push(row);
    };
    await assert.rejects(reading(), {
      code: 'record_damaged',
      message: /has the digest sha256:[0-9a-f]{64} instead of/,
    });
    assert.deepEqual(rows, []);
  });

test('a log that unpacks to a row without an end is an error, before the row is in memory', async () => {
  const bomb = zstdCompressSync(Buffer.alloc(64 * 2 ** 20, 'x'));
  const result = resultWith(sha256(bomb), randomUUID());
  const { tenant, run, attempts } = result;
  await putLog(store, { tenant, run, attempt: 1, claim: attempts[0]?.claim }, chunksOf(bomb));
  await assert.rejects(read(result), { code: 'record_damaged', message: /a row that is longer than any/ });
});
