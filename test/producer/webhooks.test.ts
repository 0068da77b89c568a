import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Hotcell } from '@hotcell/client/index.ts';
import type { Delivery, WebhookEvent } from '@hotcell/contract/webhook.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import {
  endSending,
  markSending,
  nameOfDelivery,
  noteEvent,
  putDelivery,
  sendingTo,
  unmarkSending,
  webhooksToSendTo,
} from '@hotcell/record/webhook-records.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { problemOf } from '../support/problem.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { isWebhookSigned } from '../support/webhook-check.ts';

/** Webhooks with receivers on loopback, which this producer may reach. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let hotcell: Hotcell;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house, { HOTCELL_WEBHOOK_NETWORKS: '127.0.0.1/32' });
  hotcell = await producer.client();
  await house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
});
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

let events = 0;
function eventOf(tenant: string): WebhookEvent {
  const at = new Date().toISOString();
  return { version: 1, tenant, id: `test-${events++}`, type: 'run.finished', at, data: { run: 'none' } };
}

/** The newest delivery, as soon as it is as wanted. */
async function deliveryOnce(
  client: Hotcell,
  webhook: string,
  wanted: (states: { state: string; tries: number }) => boolean,
) {
  return await until('the delivery is as wanted', async (note) => {
    const [newest] = note(await client.webhooks.deliveries(webhook)).deliveries;
    return newest && wanted({ state: newest.state, tries: newest.attempts.length }) ? newest : undefined;
  });
}

async function atTenant(receiver: Pick<Receiver, 'url'>) {
  const tenant = bed.tenant();
  const client = await producer.client('submitter', tenant);
  const { id } = await client.webhooks.create({ url: receiver.url, on: ['run.finished'] });
  return { tenant, client, id };
}

test('ends of runs and batches are sent, signed, and sent again when asked', async () => {
  await using receiver = await openReceiver((response) => response.writeHead(204).end());
  const made = await hotcell.webhooks.create({ url: receiver.url, on: ['run.finished', 'batch.finished'] });
  const blocks = [{ language: 'bash', code: 'exit 3' }];
  const run = await hotcell.submit({ blocks });
  await run.result();
  await house.clearFinished();
  const delivered = await deliveryOnce(hotcell, made.id, ({ state }) => state === 'delivered');
  assert.deepEqual([delivered.event, delivered.attempts[0]?.status], [`run-${run.id}`, 204]);
  const [got] = receiver.received;
  assert.deepEqual(JSON.parse(got?.body ?? ''), {
    type: 'run.finished',
    timestamp: delivered.at,
    data: { tenant: house.tenant, run: run.id, outcome: 'failed' },
  });
  const header = (name: string) => String(got?.headers[name]);
  const signed = { id: header('webhook-id'), timestamp: Number(header('webhook-timestamp')), body: got?.body ?? '' };
  assert.ok(isWebhookSigned(made.publicKey, header('webhook-signature'), signed));
  await hotcell.webhooks.redeliver(made.id, delivered);
  await until('it came again', async () => receiver.received.length === 2);
  assert.equal(receiver.received[1]?.headers['webhook-id'], delivered.event);
  const { batch } = await hotcell.batches.create({ over: { items: [{ n: 1 }] }, run: { blocks } });
  const told = await until('the end of the batch came', async () =>
    receiver.received.find(({ body }) => body.includes('batch.finished')),
  );
  assert.deepEqual(JSON.parse(told.body).data, {
    ...{ tenant: house.tenant, batch, round: 0, succeeded: 0, failed: 1, cancelled: 0, skipped: 0 },
  });
  await hotcell.webhooks.remove(made.id);
  assert.deepEqual(await hotcell.webhooks.list(), []);
});

test('a schedule in trouble is told of', async () => {
  await using receiver = await openReceiver((response) => response.writeHead(200).end('thanks'));
  const { id } = await hotcell.webhooks.create({ url: receiver.url, on: ['schedule.paused', 'schedule.refused'] });
  const blocks = [{ language: 'bash', code: 'print x' }];
  const run = { blocks, inputs: { data: 'no-such-name' } };
  await hotcell.schedules.create({ name: 'broken', trigger: { everySeconds: 1 }, pauseAfterFailures: 1, run });
  for (const type of ['schedule.refused', 'schedule.paused']) {
    const { body } = await until(`${type} came`, async () => receiver.received.find((one) => one.body.includes(type)));
    assert.equal(JSON.parse(body).data.schedule, 'broken');
  }
  await hotcell.schedules.remove('broken');
  await hotcell.webhooks.remove(id);
});

test('a receiver that redirects, fails or is gone is tried again, and nothing follows it', async () => {
  await using elsewhere = await openReceiver((response) => response.writeHead(200).end());
  await using redirects = await openReceiver((response) => response.writeHead(302, { location: elsewhere.url }).end());
  await using fails = await openReceiver((response) => response.writeHead(500).end('broken\u001b[31m'));
  const dead = await openReceiver(() => undefined);
  await dead[Symbol.asyncDispose]();
  for (const [receiver, status, said] of [
    [redirects, 302, /^$/],
    [fails, 500, /^broken \[31m$/],
    [dead, null, /ECONNREFUSED/],
  ] as const) {
    const { tenant, client, id } = await atTenant(receiver);
    await noteEvent(house.store, eventOf(tenant));
    const tried = await deliveryOnce(client, id, ({ tries }) => tries > 0);
    assert.deepEqual([tried.state, tried.attempts[0]?.status], ['due', status]);
    assert.match(tried.attempts[0]?.said ?? '', said);
    assert.ok(Date.parse(tried.nextAt ?? '') > Date.parse(tried.attempts[0]?.at ?? ''));
    await client.webhooks.remove(id);
  }
  assert.equal(elsewhere.received.length, 0);
});

test('a receiver that answers 410 is sent nothing more', async () => {
  await using gone = await openReceiver((response) => response.writeHead(410).end());
  const { tenant, client, id } = await atTenant(gone);
  await noteEvent(house.store, eventOf(tenant));
  await until('it is disabled', async () => (await client.webhooks.list())[0]?.disabled);
  const failed = await deliveryOnce(client, id, ({ state }) => state === 'failed');
  assert.equal(failed.attempts.length, 1);
  await assert.rejects(client.webhooks.redeliver(id, failed), { code: 'conflict' });
  await noteEvent(house.store, eventOf(tenant));
  await until('nothing is left to send', async () => (await webhooksToSendTo(house.store, tenant)).size === 0);
  assert.equal(gone.received.length, 1);
});

test('a receiver that never answers, or never ends its answer, holds up no other tenant', async () => {
  await using silent = await openReceiver(() => undefined);
  await using endless = await openReceiver((response) => {
    response.writeHead(200);
    const more = () => {
      if (!response.destroyed && response.write('x'.repeat(65_536))) setImmediate(more);
      else response.once('drain', more);
    };
    more();
  });
  await using good = await openReceiver((response) => response.writeHead(204).end());
  const slow = await atTenant(silent);
  const lying = await atTenant(endless);
  const light = await atTenant(good);
  for (let i = 0; i < 3; i++) await noteEvent(house.store, eventOf(slow.tenant));
  await until('the silent one holds a request', async () => silent.received.length > 0);
  for (const { tenant } of [lying, light]) await noteEvent(house.store, eventOf(tenant));
  await deliveryOnce(light.client, light.id, ({ state }) => state === 'delivered');
  const read = await deliveryOnce(lying.client, lying.id, ({ state }) => state === 'delivered');
  assert.equal(read.attempts[0]?.said.length, 1_000);
  const tried = await deliveryOnce(slow.client, slow.id, ({ tries }) => tries > 0);
  assert.match(tried.attempts[0]?.said ?? '', /no whole answer within 10 s/);
  for (const { client, id } of [slow, lying, light]) await client.webhooks.remove(id);
});

test('what cannot be read is passed over, and holds up nothing else of its tenant', async () => {
  await using good = await openReceiver((response) => response.writeHead(204).end());
  const { tenant, client, id } = await atTenant(good);
  const { record, work } = house.store;
  const broken = randomUUID();
  await house.store.put(record, recordKeys.webhook(tenant, broken), Buffer.from('{"url":1}'));
  await house.store.put(work, workKeys.webhookEvent(tenant, '0-broken'), Buffer.from('{}'));
  const damaged = { tenant, webhook: id, name: nameOfDelivery(eventOf(tenant)) };
  await house.store.put(record, recordKeys.delivery(tenant, id, damaged.name), Buffer.from('{}'));
  await markSending(house.store, damaged);
  await noteEvent(house.store, eventOf(tenant));
  await until('the other came', async () => good.received.length === 1);
  assert.deepEqual(
    (await client.webhooks.list()).map((one) => one.id),
    [id],
  );
  assert.deepEqual(await sendingTo(house.store, { tenant, webhook: id, most: 9 }), [damaged]);
  await unmarkSending(house.store, damaged);
  await house.store.delete(work, workKeys.webhookEvent(tenant, '0-broken'));
});

test('an address that may not be reached is refused, and those of other tenants are not seen', async () => {
  await using open = await openHouse(bed);
  await using strict = await startProducer(bed, open);
  const longer = `https://example.org/${'é'.repeat(1_000)}`;
  for (const url of ['https://127.0.0.1/', 'http://example.org/', 'https://[::ffff:10.0.0.1]/', 'nonsense', longer]) {
    const body = JSON.stringify({ url, on: ['run.finished'] });
    const answer = await strict.ask('POST', '/v1/webhooks', { body });
    assert.equal(answer.status, 400, url);
    assert.match((await problemOf(answer)).detail, /^url: /);
  }
  const mine = await hotcell.webhooks.create({ url: 'https://example.org/', on: ['run.finished'] });
  const other = await producer.client('submitter', bed.tenant());
  assert.deepEqual(await other.webhooks.list(), []);
  await assert.rejects(other.webhooks.deliveries(mine.id), { code: 'not_found' });
  await assert.rejects(other.webhooks.remove(mine.id), { code: 'not_found' });
  const reader = await producer.client('reader');
  await assert.rejects(reader.webhooks.create({ url: 'https://example.org/', on: ['run.finished'] }), {
    code: 'forbidden',
  });
  assert.ok(!JSON.stringify(await reader.webhooks.list()).includes('PRIVATE'));
  await hotcell.webhooks.remove(mine.id);
});

/** One whose next try is in an hour. */
async function waitingDelivery(tenant: string, webhook: string) {
  const nextAt = new Date(Date.now() + 3_600_000).toISOString();
  const event = eventOf(tenant);
  const delivery: Delivery = { version: 1, tenant, webhook, event, state: 'due', tries: 1, nextAt, attempts: [] };
  const place = { tenant, webhook, name: nameOfDelivery(event) };
  await putDelivery(house.store, delivery, undefined);
  await markSending(house.store, place);
  return { place, nextAt };
}

test('a delivery that a caller asks for again at the moment of its end is sent', async () => {
  const tenant = bed.tenant();
  const { place, nextAt } = await waitingDelivery(tenant, randomUUID());
  assert.equal(await endSending(house.store, place), Date.parse(nextAt));
  assert.deepEqual(await sendingTo(house.store, { ...place, most: 9 }), [place]);
  await unmarkSending(house.store, place);
});

test('a dead receiver with many deliveries holds up no other webhook of its tenant', async () => {
  await using good = await openReceiver((response) => response.writeHead(204).end());
  const { tenant, client, id } = await atTenant(good);
  const dead = await client.webhooks.create({ url: 'http://127.0.0.1:9/', on: ['batch.finished'] });
  await inLanes(32, Array.from({ length: 1_000 }), async () => void (await waitingDelivery(tenant, dead.id)));
  await noteEvent(house.store, eventOf(tenant));
  await deliveryOnce(client, id, ({ state }) => state === 'delivered');
});
