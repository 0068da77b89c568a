import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLog } from '@hotcell/outside/process/log.ts';
import { buildServer } from '@hotcell/producer/api/server.ts';
import { KeyRing } from '@hotcell/producer/auth/keyring.ts';
import { Metrics } from '@hotcell/producer/metrics.ts';
import type { Producer } from '@hotcell/producer/producer.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';

/** What a producer needs for those who have no key: nothing is read for them. */
function open() {
  const metrics = new Metrics();
  const parts = { log: openLog('test', 'silent'), metrics, keys: new KeyRing({} as Buckets), patienceMs: 1_000 };
  const app = buildServer(parts as unknown as Producer);
  const counted = (name: string) =>
    metrics
      .exposition([])
      .split('\n')
      .filter((line) => line.startsWith(name));
  return { app, counted };
}
const long = 'x'.repeat(10_000);

test('every answer forbids a browser to guess, frame or keep it, and has the id of its request', async () => {
  await using made = { ...open(), [Symbol.asyncDispose]: () => made.app.close() };
  for (const url of ['/v1/runs', '/nothing', '/v1/runs/%', `/v1/runs/${long}`]) {
    const { headers } = await made.app.inject(url);
    assert.equal(headers['x-content-type-options'], 'nosniff', url);
    assert.match(String(headers['content-security-policy']), /default-src 'none'/, url);
    assert.equal(headers['cache-control'], 'no-store', url);
    assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/, url);
  }
});

test('a request without a valid key is refused and counted as such, by its route', async () => {
  await using made = { ...open(), [Symbol.asyncDispose]: () => made.app.close() };
  assert.deepEqual(made.counted('hotcell_unauthenticated_total '), []);
  for (const headers of [{}, { authorization: 'Bearer nonsense' }, { authorization: 'Basic x' }])
    assert.equal((await made.app.inject({ url: '/v1/runs', headers })).statusCode, 401);
  assert.deepEqual(made.counted('hotcell_unauthenticated_total '), ['hotcell_unauthenticated_total 3']);
  const requests = made.counted('hotcell_http_requests_total{');
  assert.ok(
    requests.includes('hotcell_http_requests_total{route="/v1/runs",method="GET",status="401"} 3'),
    requests.join('\n'),
  );
});

test('a stranger does not learn which addresses there are', async () => {
  await using made = { ...open(), [Symbol.asyncDispose]: () => made.app.close() };
  for (const url of ['/v1/secret', '/v1/runs', '/v1/runs/x'])
    assert.equal((await made.app.inject(url)).statusCode, 401, url);
});
