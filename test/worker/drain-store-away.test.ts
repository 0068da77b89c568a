import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'node:test';
import { openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { resultOf, settled } from '../support/promise.ts';
import { until } from '../support/until.ts';

const longestDrainMs = 60_000;

test('a worker asked to stop while the store is away does not wait for it to see whether a run has finished', async () => {
  await using bed = await openBed();
  await using proxy = await openHttpProxy(bed.installation.store.endpoint);
  await using house = await openHouse(bed, { endpoint: proxy.url });
  const { run } = await house.submit('print hello');
  // Only of a ticket that recovery queued is the result asked for first.
  await house.emptyValkey();
  await house.reconciler().sweepAll();
  let met = 0;
  proxy.fault = ({ method, path }) =>
    method === 'GET' && path.endsWith('/result.json') && met++ >= 0 ? { kind: 'status', status: 503 } : undefined;
  const worker = await house.worker('one');
  await until('the worker asks for the result', async () => met > 0);
  const stopped = await Promise.race([worker.stop().then(() => true), pause(longestDrainMs, false, { ref: false })]);
  proxy.fault = () => undefined;
  assert.ok(stopped, `the worker did not stop within ${longestDrainMs} ms`);
  await house.worker('two');
  assert.equal((await resultOf(house, run)).outcome, 'succeeded');
  await settled(house, [run]);
});
