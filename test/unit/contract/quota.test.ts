import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectiveQuota, TenantQuota } from '@hotcell/contract/quota.ts';

test('each quota comes from the strongest place that names it: the API, the tenant’s in the file, the defaults, ours', () => {
  const file = {
    version: 1,
    defaults: { waitingRuns: 10, runningRuns: 2, requestsPerSecond: 5 },
    tenants: { big: { waitingRuns: 100, runningRuns: 'unlimited' } },
  } as const;
  const quota = effectiveQuota('big', file, { waitingRuns: 1000 });
  assert.deepEqual(quota.waitingRuns, { limit: 1000, from: 'api' });
  assert.deepEqual(quota.runningRuns, { limit: Number.POSITIVE_INFINITY, from: 'file' });
  assert.deepEqual(quota.requestsPerSecond, { limit: 5, from: 'defaults' });
  const other = effectiveQuota('small', file, undefined);
  assert.deepEqual(other.waitingRuns, { limit: 10, from: 'defaults' });
  assert.deepEqual(effectiveQuota('any', { version: 1 }, {}).waitingRuns, { limit: 100_000, from: 'shipped' });
});

test('a quota is a whole number or unlimited; a tenant may be allowed no runs, and no quota stops every request', () => {
  for (const good of [{ waitingRuns: 0 }, { runningRuns: 'unlimited' }, {}])
    assert.ok(TenantQuota.safeParse(good).success);
  for (const bad of [{ waitingRuns: -1 }, { runningRuns: 0 }, { requestsPerSecond: 0 }, { waitingRuns: 1.5 }, { x: 1 }])
    assert.ok(!TenantQuota.safeParse(bad).success, JSON.stringify(bad));
});
