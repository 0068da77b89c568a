import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { newRunId, type RunId } from '@hotcell/contract/names.ts';
import { committedAttempt } from '@hotcell/contract/result.ts';
import type { Ticket } from '@hotcell/contract/ticket.ts';
import { TicketSigner } from '@hotcell/contract/ticket-signing.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoQueue, echoSteps } from '../support/echo.ts';
import type { Steps } from '@hotcell/executor-worker/worker.ts';
import { type House, openHouse } from '../support/house.ts';
import { keysOf, resultOf, settled } from '../support/promise.ts';
import { until } from '../support/until.ts';

let bed: Bed;
let house: House;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
});
after(async () => {
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const put = (run: string, ticket: unknown) =>
  house.producer.queues.of(echoQueue).enqueue(ticket, { run, tenant: house.tenant, priority: 5 });

test('forged, altered and foreign tickets are refused and counted, and the queue goes on', async () => {
  const { tickets, installation, live } = house.producer;
  const about = (more: object = {}) => ({
    installation,
    run: newRunId(),
    tenant: house.tenant,
    spec: sha256(''),
    queue: echoQueue,
    ...more,
  });
  const now = new Date();
  const altered = (ticket: Ticket, body: object): Ticket => ({ ...ticket, body: { ...ticket.body, ...body } });
  const strangers = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const good = tickets.issue(about(), now);
  const long = new Date(now.getTime() - 30 * 86_400_000);
  const soon = new Date(now.getTime() + 86_400_000);
  const bad: Record<string, { run: string; ticket: unknown }> = {
    'by a stranger’s key': of(new TicketSigner(strangers).issue(about(), now)),
    'for another tenant': of(altered(tickets.issue(about(), now), { tenant: 'somebody-else' })),
    'for another spec': of(altered(tickets.issue(about(), now), { spec: sha256('other') })),
    'with a longer life': of(altered(tickets.issue(about(), long), { expiresAt: soon.toISOString() })),
    expired: of(tickets.issue(about(), long)),
    'of tomorrow': of(tickets.issue(about(), soon)),
    'of another installation': of(tickets.issue(about({ installation: 'other' }), now)),
    'for another queue': of(tickets.issue(about({ queue: 'other' }), now)),
    'under another run': { run: newRunId(), ticket: good },
    truncated: { run: newRunId(), ticket: { body: good.body } },
    'of a later version': of(altered(tickets.issue(about(), now), { version: 3 })),
    'no ticket at all': { run: newRunId(), ticket: 'a ticket' },
    nothing: { run: newRunId(), ticket: null },
  };
  for (const { run, ticket } of Object.values(bad)) await put(run, ticket);
  const { run } = await house.submit('print hello');
  await house.worker('one');
  assert.equal((await resultOf(house, run)).outcome, 'succeeded');
  const count = Object.keys(bad).length;
  const refused = await until('all bad tickets are refused', async () => {
    const seen = await live.refused.all();
    return seen.count >= count ? seen : undefined;
  });
  assert.equal(refused.count, count);
  const why = refused.last.map((ticket) => ticket.why).join('\n');
  for (const word of ['signature', 'expired', 'in the future', 'installation other', 'queue other', 'another id'])
    assert.match(why, new RegExp(word));
  await settled(house, [run]);
});

function of(ticket: Ticket): { run: string; ticket: Ticket } {
  return { run: ticket.body.run, ticket };
}

/** An accepted run whose ticket is in no queue yet. */
async function held() {
  const { run, spec } = await house.submit('print hello', { spec: { notBefore: '2999-01-01T00:00:00Z' } });
  await house.producer.queues.of(echoQueue).remove(run);
  const { tickets, installation } = house.producer;
  const { tenant } = house;
  const bytes = await house.store.getBytes(house.store.record, recordKeys.spec(tenant, run));
  const about = { installation, run, tenant, spec: sha256(bytes ?? ''), queue: echoQueue };
  return { run, spec, about, ticket: tickets.issue(about, new Date()) };
}

test('a ticket of the previous version is understood', async () => {
  const { run, about } = await held();
  const now = Date.now();
  const ticket = house.producer.tickets.sign({
    version: 1,
    ...about,
    issuedAt: new Date(now).toISOString(),
    expiresAt: new Date(now + 60_000).toISOString(),
  });
  await put(run, ticket);
  assert.equal((await resultOf(house, run)).outcome, 'succeeded');
  await settled(house, [run]);
});

/** A new ticket for a run that was accepted before. */
async function ticketFor({ producer, store, tenant }: House, run: RunId): Promise<Ticket> {
  const bytes = await store.getBytes(store.record, recordKeys.spec(tenant, run));
  const about = { installation: producer.installation, run, tenant, spec: sha256(bytes ?? ''), queue: echoQueue };
  return producer.tickets.issue(about, new Date());
}

test('the ticket of a finished run runs nothing when it is queued again', async () => {
  const { run } = await house.submit('print hello');
  await resultOf(house, run);
  await settled(house, [run]);
  await put(run, await ticketFor(house, run));
  await settled(house, [run]);
  assert.equal((await resultOf(house, run)).attempts.length, 1);
});

test('a finished run is not executed again when Valkey forgot it and its claims are gone; its log stays as it was', async () => {
  await using own = await openHouse(bed);
  const { store, tenant } = own;
  const sealed: string[] = [];
  const seal: Steps['seal'] = (plan, left, asked) => {
    sealed.push(plan.run);
    return echoSteps.seal(plan, left, asked);
  };
  const { run } = await own.submit('print hello');
  const first = await own.worker('one', { steps: { ...echoSteps, seal } });
  const result = await resultOf(own, run);
  await settled(own, [run]);
  await first.stop();
  const before = await keysOf(store, store.record);
  await own.emptyValkey();
  const queue = own.producer.queues.of(echoQueue);
  // As if it came for the first time: nothing says that the run may have begun.
  await queue.enqueue(await ticketFor(own, run), { run, tenant, priority: 5 });
  await own.worker('two', { steps: { ...echoSteps, seal } });
  await settled(own, [run]);
  assert.deepEqual(sealed, [run]);
  assert.deepEqual(await resultOf(own, run), result);
  const log = recordKeys.log(tenant, run, committedAttempt(result) ?? assert.fail('no attempt was committed'));
  const versions = await Array.fromAsync(store.listVersions(store.record, log));
  assert.equal(versions.length, 1);
  // What the second attempt left says so, under a key of its own.
  const added = (await keysOf(store, store.record)).filter((key) => !before.includes(key));
  const places = added.map((key) => key.slice(key.indexOf(run)).replace(/[0-9a-f-]{36}\/(?=attempt)/, 'CLAIM/'));
  assert.deepEqual(places, [`${run}/1-CLAIM/attempt.json`, `${run}/1-CLAIM/attempt.sigstore.json`]);
});

test('a run whose spec was altered or is missing is lost, and says so', async () => {
  const { store, tenant } = house;
  const altered = await held();
  const missing = await held();
  const key = recordKeys.spec(tenant, altered.run);
  await store.put(store.record, key, JSON.stringify({ ...altered.spec, env: { A: 'altered' } }));
  await store.delete(store.record, recordKeys.spec(tenant, missing.run));
  for (const { ticket, run } of [altered, missing]) await put(run, ticket);
  const lost = await resultOf(house, altered.run);
  assert.equal(lost.outcome, 'lost');
  assert.match(lost.reason, /was altered/);
  const gone = await resultOf(house, missing.run);
  assert.equal(gone.outcome, 'lost');
  assert.match(gone.reason, /is missing/);
});
