import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRunId } from '@hotcell/contract/names.ts';
import { FollowedTenant, missingIn } from '@hotcell/producer/readmodel/followed-tenant.ts';

const place = { tenant: 't', tail: 1_000_000, day: null, after: '' };
const run = newRunId();

test('a tenant that a message names is looked at sooner than one that none names', () => {
  const tenant = new FollowedTenant(place);
  tenant.beginTail(10_000);
  const idle = tenant.dueAt(1);
  assert.ok(idle > 10_000);
  tenant.nudge(run);
  const nudged = tenant.dueAt(1);
  assert.ok(nudged > 10_000 && nudged < idle);
  assert.deepEqual([...tenant.named], [run]);
  tenant.beginTail(20_000);
  assert.equal(tenant.dueAt(1), idle + 10_000);
});

test('the more tenants there are, the more seldom an idle one is looked at, and a nudged one as soon as ever', () => {
  const tenant = new FollowedTenant(place);
  tenant.beginTail(0);
  assert.equal(tenant.dueAt(20), tenant.dueAt(1));
  assert.equal(tenant.dueAt(1000), 100_000);
  tenant.nudge(run);
  assert.equal(tenant.dueAt(1000), tenant.dueAt(1));
});

test('a look that has not reached the end goes on at once', () => {
  const tenant = new FollowedTenant(place);
  tenant.beginTail(10_000);
  tenant.tailKey = 'runs/t/x';
  assert.equal(tenant.dueAt(1000), 10_000);
  tenant.reachedAgain(50_000);
  assert.equal(tenant.againAt, 650_000);
  tenant.againKey = 'runs/t/x';
  assert.equal(tenant.againAt, 0);
});

test('messages name only so many runs at once', () => {
  const tenant = new FollowedTenant(place);
  for (let i = 0; i < 2_000; i++) tenant.nudge(newRunId());
  assert.equal(tenant.named.size, 1_000);
});

test('a tenant is behind when its newest runs were not looked at for long, or not at all', () => {
  const tenant = new FollowedTenant(place);
  assert.equal(tenant.progress(100_000).behind, true);
  tenant.beginTail(100_000);
  assert.equal(tenant.progress(100_000).behind, true);
  tenant.reachedTail();
  assert.deepEqual(tenant.progress(161_999), { ...place, behind: false });
  assert.equal(tenant.progress(162_001).behind, true);
  // Looked at seldom, because there are many tenants: it is not behind for that.
  tenant.dueAt(1000);
  assert.equal(tenant.progress(162_001).behind, false);
  assert.equal(new FollowedTenant(place, 90_000).progress(100_000).behind, false);
});

test('a list says what it may be missing: new runs, or those before a day', () => {
  const [first, second] = [newRunId(Date.UTC(2100, 0, 1, 12)), newRunId(Date.UTC(2100, 0, 2))];
  const now = { tail: Date.UTC(2100, 0, 3), behind: false };
  assert.equal(missingIn({ ...now, day: null }, undefined), undefined);
  assert.match(missingIn({ ...now, day: null, behind: true }, undefined) ?? '', /after 2100-01-03T00:00:00.000Z/);
  const filling = { ...now, day: '2100/01/01' };
  assert.match(missingIn(filling, undefined) ?? '', /on 2100-01-01 or before/);
  assert.equal(missingIn(filling, second), undefined);
  assert.match(missingIn(filling, first) ?? '', /on 2100-01-01 or before/);
});
