import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvelope } from '@hotcell/outside/queue/envelope.ts';

const ticket = { body: {}, signature: '' };
const envelope = { version: 1, ticket, tenant: 't', priority: 9 };

test('an envelope says whose ticket it is and whether recovery queued it', () => {
  const opened = { ...envelope, cpus: 1, recovered: false };
  assert.deepEqual(openEnvelope({ name: 'ticket', data: envelope }), opened);
  // A newer producer may say more.
  assert.deepEqual(openEnvelope({ name: 'ticket', data: { ...envelope, more: 1 } }), opened);
  assert.equal(openEnvelope({ name: 'ticket', data: { ...envelope, recovered: true } }).recovered, true);
});

test('what is no envelope is a ticket that proves itself or is refused', () => {
  for (const data of [ticket, { ...envelope, priority: 10 }, { ...envelope, priority: -1 }, 'nonsense'])
    assert.deepEqual(openEnvelope({ name: 'ticket', data }), { ticket: data, recovered: false });
  assert.deepEqual(openEnvelope({ name: 'again', data: ticket }), { ticket, recovered: true });
});
