import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { effectiveQuota } from '@hotcell/contract/quota.ts';
import { RequestRates } from '@hotcell/producer/quotas/request-rates.ts';

const quota = effectiveQuota('a', { version: 1, defaults: { requestsPerSecond: 10 } }, undefined);

function taken(rates: RequestRates, tenant: string, asked: number, now: number): number {
  for (let i = 0; i < asked; i++) {
    try {
      rates.take(tenant, quota, now);
    } catch (error) {
      assert.ok(error instanceof HotcellError && error.code === 'quota_exceeded');
      assert.deepEqual(error.extra, { quota: 'requestsPerSecond', limit: 10, used: 10, retryAfterSeconds: 1 });
      return i;
    }
  }
  return asked;
}

test('a tenant may send the requests of two seconds at once, and then as many as its rate', () => {
  const rates = new RequestRates();
  assert.equal(taken(rates, 'a', 100, 0), 20);
  assert.equal(taken(rates, 'a', 100, 0), 0);
  assert.equal(taken(rates, 'a', 100, 500), 5);
  assert.equal(taken(rates, 'a', 100, 60_000), 20);
});

test('what one tenant sends costs another nothing, however many tenants there are', () => {
  const rates = new RequestRates();
  assert.equal(taken(rates, 'a', 100, 0), 20);
  for (let i = 0; i < 20_000; i++) assert.equal(taken(rates, `t-${i}`, 1, 0), 1);
  assert.equal(taken(rates, 'b', 100, 0), 20);
});
