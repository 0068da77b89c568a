import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callingFor } from '@hotcell/record/callback-records.ts';
import { noteCalledEvent, webhooksToSendTo } from '@hotcell/record/webhook-records.ts';
import { openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { startProducer } from '../support/producer.ts';
import { openReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { fallen } from './falling.ts';

test('each event arrives at its webhook and its callback, although its sender is killed at any step', async () => {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  await using receiver = await openReceiver((response) => response.writeHead(204).end());
  await using called = await openReceiver((response) => response.writeHead(204).end());
  const { store, tenant } = house;
  const networks = { HOTCELL_WEBHOOK_NETWORKS: '127.0.0.0/8' };
  let webhook: string | undefined;
  const points = ['webhook.made', 'webhook.marked', 'webhook.sent', 'webhook.noted'];
  for (const [i, point] of points.entries()) {
    await using sender = await startProducer(bed, house, { ...networks, HOTCELL_CRASH_AT: `${point}:kill` });
    webhook ??= (await (await sender.client()).webhooks.create({ url: receiver.url, on: ['run.finished'] })).id;
    const at = new Date().toISOString();
    const event = { version: 1, tenant, id: `event-${i}`, type: 'run.finished', at, data: {} } as const;
    await noteCalledEvent(store, event, called.url);
    await fallen(sender.child, point, 'kill');
  }
  await using last = await startProducer(bed, house, networks);
  const client = await last.client();
  const keys = { ...(await client.webhooks.callbacks()), tenant };
  for (const id of [webhook ?? '', keys.id])
    await until('all are delivered', async (note) => {
      const { deliveries } = note(await client.webhooks.deliveries(id));
      return deliveries.length === points.length && deliveries.every(({ state }) => state === 'delivered');
    });
  await until('nothing is left to send', async () => (await webhooksToSendTo(store, tenant)).size === 0);
  await until('nothing is left to call', async () => (await callingFor(store, keys, 9)).length === 0);
  for (const { received } of [receiver, called]) {
    const ids = new Set(received.map(({ headers }) => headers['webhook-id']));
    assert.deepEqual(ids, new Set(points.map((_, i) => `event-${i}`)));
  }
});
