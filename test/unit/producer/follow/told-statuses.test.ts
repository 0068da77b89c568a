import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToldStatuses } from '@hotcell/producer/follow/told-statuses.ts';

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;

test('a message that a read has overtaken says nothing', () => {
  const told = new ToldStatuses();
  assert.equal(told.read('publishing', undefined, at(3))?.status, 'publishing');
  assert.equal(told.heard('running', at(2)), undefined);
  assert.equal(told.heard('publishing', at(3)), undefined);
});

test('another attempt begins again, and is told', () => {
  const told = new ToldStatuses();
  told.read('running', undefined, at(2));
  assert.equal(told.heard('staging', at(4))?.status, 'staging');
  assert.equal(told.heard('running', at(5))?.status, 'running');
});

test('a reason is told once, whatever time is left, and a message without one does not replace it', () => {
  const told = new ToldStatuses();
  const why = (seconds: number) => `Run …a1f3 holds 1 CPU, for at most ${seconds} s.`;
  assert.deepEqual(told.read('queued', why(54), at(1)), { type: 'status', status: 'queued', reason: why(54) });
  assert.equal(told.heard('queued', at(2)), undefined);
  assert.equal(told.read('queued', why(31), at(1)), undefined);
  assert.equal(told.read('queued', 'Next.', at(1))?.reason, 'Next.');
});
