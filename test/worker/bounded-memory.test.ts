import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { newRunId, type RunId } from '@hotcell/contract/names.ts';
import { bytesOf, type LogRow } from '@hotcell/contract/log-rows.ts';
import { LogFeed } from '@hotcell/executor-worker/logs/log-feed.ts';
import { LogRecorder } from '@hotcell/executor-worker/logs/recorder.ts';
import { OutputCollector } from '@hotcell/executor-worker/outputs/output-collector.ts';
import { Buckets, bucketsFrom } from '@hotcell/record/buckets.ts';
import { putSegment, readSegment, segmentsAfter } from '@hotcell/record/run-logs.ts';
import { readWorkerSettings } from '@hotcell/executor-worker/worker-config.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { openOutputRoom } from '../support/output-room.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

const mib = 1024 * 1024;

/** A store that can stop answering, as a worker sees it. */
let bed: Bed;
let house: House;
let proxy: TcpProxy;
let store: Buckets;
before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  const to = new URL(bed.installation.store.endpoint);
  proxy = await openTcpProxy({ host: to.hostname, port: Number(to.port) });
  to.port = String(proxy.port);
  const env = readWorkerSettings(await house.settings('worker', { HOTCELL_S3_ENDPOINT: to.href }));
  store = new Buckets(bucketsFrom(env));
});
after(async () => {
  proxy.heal();
  store[Symbol.dispose]();
  await proxy[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const piece = Buffer.alloc(32 * 1024);
const pieces = (12 * mib) / piece.length;

/** Writes a log as fast as it is taken. */
function pour(to: Buckets, run: RunId, publish: (rows: readonly LogRow[]) => Promise<void>) {
  const live = new LogFeed({
    putSegment: (index, body) => putSegment(to, run, 1, index, body),
    publish,
    onError: (what) => assert.fail(what),
  });
  const put = async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const _ of chunks);
  };
  const recorder = new LogRecorder({ put, limitBytes: 16 * mib, live });
  const poured = { taken: 0, recorder, written: Promise.resolve() };
  const write = async () => {
    for (let i = 0; i < pieces; i++) {
      await recorder.write(0, 'stdout', new Date(), piece);
      poured.taken += piece.length;
    }
  };
  poured.written = write();
  return poured;
}

test('a log of NULs that is written faster than the store takes it waits in the cell, and all of it arrives', async () => {
  const run = newRunId();
  let published = 0;
  const valkey = Promise.withResolvers<void>();
  proxy.freeze();
  const frozen = pour(store, run, async (rows) => {
    published += rows.length;
    await valkey.promise;
  });
  // By the time at which a log has gone to a store that answers, this one has had all the time it needs.
  const twin = pour(house.store, newRunId(), () => Promise.resolve());
  await twin.written;
  await twin.recorder.finish();
  // A NUL is six characters of JSON: one segment on its way, one that is full.
  assert.ok(frozen.taken * 6 < 2.5 * mib, `${frozen.taken} bytes were taken`);
  assert.ok(published * piece.length * 6 < 1.5 * mib, `${published} rows wait for Valkey`);
  proxy.heal();
  valkey.resolve();
  await frozen.written;
  await frozen.recorder.finish();
  let bytes = 0;
  for (const name of await segmentsAfter(store, run, 1, undefined))
    for (const row of (await readSegment(store, name)) ?? []) bytes += bytesOf(row).length;
  assert.equal(bytes, 12 * mib);
});

test('outputs that the store does not take yet are not read from the cell, and another tenant has its share', async () => {
  const room = openOutputRoom(12 * mib);
  const limits = { outputBytes: 64 * mib, outputFiles: 100 };
  const open = (tenant: string) => new OutputCollector({ store, tenant, run: newRunId(), attempt: 1, room }, limits);
  const read: string[] = [];
  const file = (name: string) => {
    const bytes = randomBytes(2 * mib);
    const data = (async function* () {
      read.push(name);
      yield bytes;
    })();
    return [Buffer.from(name), bytes.length, data] as const;
  };
  const [greedy, light] = [open(bed.tenant()), open(bed.tenant())];
  proxy.freeze();
  const all = (async () => {
    for (let i = 0; i < 8; i++) await greedy.take(...file(`greedy ${i}`));
  })();
  await until('half of the room is taken', async () => read.length >= 3);
  await light.take(...file('light'));
  assert.deepEqual(read, ['greedy 0', 'greedy 1', 'greedy 2', 'light']);
  proxy.heal();
  await all;
  const collected = [await greedy.finish(), await light.finish()];
  assert.deepEqual(
    collected.map(({ files }) => files.length),
    [8, 1],
  );
  // Everything was given back.
  assert.ok(room.tryTake('another', 6 * mib));
});
