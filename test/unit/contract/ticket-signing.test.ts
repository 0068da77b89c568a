import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { TicketReader, TicketSigner } from '@hotcell/contract/ticket-signing.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const signer = new TicketSigner(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
const reader = new TicketReader(publicKey.export({ type: 'spki', format: 'pem' }).toString());
const issued = new Date('2026-01-01T00:00:00Z');
const minutes = (count: number) => count * 60_000;
const week = minutes(7 * 24 * 60);

function readAfter(ms: number) {
  const about = { installation: 'i', run: newRunId(), tenant: 't', spec: sha256(''), queue: 'q' };
  const ticket = signer.issue(about, issued);
  return reader.read(ticket, { ...about, now: new Date(issued.getTime() + ms) });
}

test('a ticket is good for seven days, and for as long as two clocks may differ', () => {
  for (const ms of [-minutes(5), 0, week, week + minutes(5)]) assert.equal(readAfter(ms).queue, 'q');
});

test('a ticket is refused once it has expired, and before it was issued', () => {
  assert.throws(() => readAfter(week + minutes(6)), { code: 'ticket_refused', message: /expired/ });
  assert.throws(() => readAfter(-minutes(6)), { code: 'ticket_refused', message: /clocks/ });
});
