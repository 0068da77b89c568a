import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { openHouse } from '../support/house.ts';
import { problemOf } from '../support/problem.ts';
import { startProducer } from '../support/producer.ts';
import { resultOf, running, settled } from '../support/promise.ts';
import { pinPolicy, spawnWorker } from '../support/real-worker.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

/** SIGTERM ends the process far sooner than its unanswered requests would time out. */
async function endsByItself(child: Child): Promise<void> {
  child.kill('SIGTERM');
  const gaveUp = new AbortController();
  const late = pause(60_000, 'it did not end within 60 s', { signal: gaveUp.signal }).catch(() => undefined);
  const ended = await Promise.race([child.ended, late]);
  gaveUp.abort();
  assert.deepEqual(ended, { code: 0, signal: null });
}

test('producer and worker end on SIGTERM while neither Valkey nor the store answers, and nothing is lost', async () => {
  const { redisUrl, store } = bed.installation;
  const toValkey = new URL(redisUrl);
  const toStore = new URL(store.endpoint);
  await using valkey = await openTcpProxy({ host: toValkey.hostname, port: Number(toValkey.port) });
  await using bucket = await openTcpProxy({ host: toStore.hostname, port: Number(toStore.port) });
  toValkey.port = String(valkey.port);
  toStore.port = String(bucket.port);
  const silent = { HOTCELL_REDIS_URL: toValkey.href, HOTCELL_S3_ENDPOINT: toStore.href };
  await using house = await openHouse(bed);
  const place = { HOTCELL_STATE_DIR: await bed.folder('one') };
  await using producer = await startProducer(bed, house, silent);
  await using worker = await spawnWorker(bed, house, 'one', { ...silent, ...place, HOTCELL_DRAIN_SECONDS: '0' });
  const real = await pinPolicy(bed, house, 'sealed');
  const blocks = [{ language: 'python', code: 'import time; time.sleep(600)' }];
  const { run } = await house.submit('', { spec: { ...real.spec, blocks }, queue: real.queue });
  await running(house, run, 1);
  valkey.freeze();
  bucket.freeze();
  const asked = producer.ask('GET', `/v1/runs/${run}`).then(problemOf, (error: unknown) => error);
  await Promise.all([endsByItself(producer.child), endsByItself(worker)]);
  const answer = await asked;
  // The store's silence may be noticed before the process ends, or its end breaks the connection.
  if (answer instanceof Error) assert.match(answer.message, /fetch failed|terminated/);
  else assert.partialDeepStrictEqual(answer, { status: 503, code: 'store_unavailable', retryable: true });
  await using again = await spawnWorker(bed, house, 'one', place);
  house.reconciler();
  await running(house, run, 2);
  await cancelRun(house.producer, { tenant: house.tenant, run, by: 'anna', reason: 'enough' });
  assert.equal((await resultOf(house, run)).outcome, 'cancelled');
  await settled(house, [run]);
  await again.stop();
});
