import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectiveQuota } from '@hotcell/contract/quota.ts';
import { FairShare } from '@hotcell/outside/process/fair-share.ts';
import { OpenStreams } from '@hotcell/producer/quotas/open-streams.ts';

const open = (openStreams: number, total = 100) =>
  new OpenStreams(new FairShare({ limit: 'streams', what: 'streams', total }), {
    of: (tenant) => effectiveQuota(tenant, { version: 1, defaults: { openStreams } }, undefined),
  });

test('a tenant holds at most its quota of streams, and another tenant has its own', () => {
  const streams = open(2);
  const [first] = [streams.take('a'), streams.take('a')];
  assert.throws(() => streams.take('a'), { code: 'quota_exceeded' });
  assert.equal(streams.tryTake('a'), undefined);
  assert.equal(streams.of('a'), 2);
  assert.ok(streams.tryTake('b'));
  first();
  assert.equal(streams.of('a'), 1);
  assert.ok(streams.tryTake('a'));
});

test('a stream is given back once, and then counts nowhere', () => {
  const streams = open(5);
  const [one, two] = [streams.take('a'), streams.take('a')];
  one();
  one();
  assert.equal(streams.of('a'), 1);
  two();
  assert.equal(streams.of('a'), 0);
});

test('a tenant holds no more than its share of what the process has, however high its quota', () => {
  const streams = open(1_000, 10);
  const held = Array.from({ length: 10 }, () => streams.tryTake('a')).filter((taken) => taken !== undefined);
  assert.equal(held.length, 5);
  assert.equal(streams.of('a'), 5);
  assert.throws(() => streams.take('a'), { code: 'too_many' });
  held[0]?.();
  assert.ok(streams.tryTake('a'));
});
