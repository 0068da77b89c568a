import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import { bytesOf, LogRow } from '@hotcell/contract/log-rows.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { putSegment } from '@hotcell/record/run-logs.ts';
import { LogFeed } from '@hotcell/executor-worker/logs/log-feed.ts';
import { LogRecorder } from '@hotcell/executor-worker/logs/recorder.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { until } from '../support/until.ts';

let bed: Bed;
let store: Buckets;
before(async () => {
  bed = await openBed();
  store = bed.store('worker');
});
after(() => bed[Symbol.asyncDispose]());

function open(limitBytes: number, publish: (rows: readonly LogRow[]) => Promise<void> = () => Promise.resolve()) {
  const run = newRunId();
  const key = recordKeys.log(bed.tenant(), run, { attempt: 1 });
  const troubles: string[] = [];
  const put = async (chunks: AsyncIterable<Uint8Array>) => void (await store.upload(store.record, key, chunks));
  const live = new LogFeed({
    putSegment: (index, body) => putSegment(store, run, 1, index, body),
    publish,
    onError: (what) => troubles.push(what),
  });
  return { run, key, troubles, recorder: new LogRecorder({ put, limitBytes, live }) };
}
async function stored(key: string) {
  const bytes = await store.getBytes(store.record, key);
  assert.ok(bytes);
  const rows = zstdDecompressSync(bytes)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => LogRow.parse(JSON.parse(line)));
  return { rows, sha256: `sha256:${createHash('sha256').update(bytes).digest('hex')}` };
}
async function segmentsOf(run: string) {
  return Array.fromAsync(store.list(store.work, workKeys.logs(run)));
}

describe('a run’s log', () => {
  test('is stored compressed, byte for byte, under the digest in the result', async () => {
    const { key, recorder } = open(1_000_000);
    const parts = [Buffer.from('hello\n'), Buffer.from([0, 0xff, 13, 10]), randomBytes(5000), Buffer.from('é')];
    for (const part of parts) await recorder.write(0, 'stdout', new Date(), part);
    const kept = await recorder.finish();
    const { rows, sha256 } = await stored(key);
    assert.deepEqual(Buffer.concat(rows.map(bytesOf)), Buffer.concat(parts));
    assert.deepEqual(kept, { sha256, bytes: Buffer.concat(parts).length, truncated: false });
  });

  test('keeps its head and its tail when it is too long', async () => {
    const { key, recorder } = open(10_000);
    for (let i = 0; i < 2000; i++) await recorder.write(0, 'stderr', new Date(), Buffer.from(`line ${i} of many\n`));
    const kept = await recorder.finish();
    const { rows } = await stored(key);
    assert.equal(kept.truncated, true);
    assert.ok(rows[0]?.text?.startsWith('line 0'));
    assert.ok(rows.at(-1)?.text?.endsWith('line 1999 of many\n'));
    const dropped = rows.reduce((sum, row) => sum + (row.dropped ?? 0), 0);
    assert.equal(dropped + Buffer.concat(rows.map(bytesOf)).length, kept.bytes);
  });

  test('reaches live readers at once, and costs a short run no segment', async () => {
    const seen: LogRow[] = [];
    const { run, recorder } = open(1_000_000, async (rows) => void seen.push(...rows));
    await recorder.write(0, 'stdout', new Date(), Buffer.from('now'));
    await until('the row is published', async () => seen.some((row) => row.text === 'now'));
    await recorder.finish();
    assert.deepEqual(await segmentsOf(run), []);
  });

  test('is written in segments without a gap when it is long', async () => {
    const { run, recorder } = open(8 * 1024 * 1024);
    const chunk = Buffer.from('x'.repeat(60_000));
    for (let i = 0; i < 40; i++) await recorder.write(0, 'stdout', new Date(), chunk);
    await recorder.finish();
    const keys = (await segmentsOf(run)).map(({ key }) => key);
    assert.ok(keys.length >= 2, `${keys.length} segments`);
    const texts = await Promise.all(keys.map(async (key) => (await store.getBytes(store.work, key))?.toString() ?? ''));
    const rows = texts
      .join('')
      .trimEnd()
      .split('\n')
      .map((line) => LogRow.parse(JSON.parse(line)));
    assert.deepEqual(
      rows.map((row) => row.seq),
      Array.from({ length: 40 }, (_, i) => i),
    );
    await bed.store('operator').deleteMany(store.work, keys);
  });

  test('is kept when live readers cannot be reached', async () => {
    const { key, troubles, recorder } = open(1000, () => Promise.reject(new Error('Valkey is away')));
    await recorder.write(0, 'stdout', new Date(), Buffer.from('still here'));
    await recorder.finish();
    assert.equal((await stored(key)).rows[0]?.text, 'still here');
    assert.deepEqual(troubles, ['failed to publish live log rows']);
  });

  test('is not stored when the attempt is given up', async () => {
    const { run, key, recorder } = open(64 * 1024 * 1024);
    for (let i = 0; i < 20; i++) await recorder.write(0, 'stdout', new Date(), randomBytes(1024 * 1024));
    await recorder.abandon();
    assert.equal(await store.head(store.record, key), undefined);
    const half = await bed.store('operator').halfUploads(store.record);
    assert.deepEqual(
      half.filter((upload) => upload.key === key),
      [],
    );
    // Segments are removed at the commit, which this run never reaches.
    const segments = (await segmentsOf(run)).map(({ key: segment }) => segment);
    await bed.store('operator').deleteMany(store.work, segments);
  });
});
