import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Hotcell, HotcellError } from '@hotcell/client/index.ts';
import { trackOf } from '@hotcell/record/callback-records.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { noteCalledEvent } from '@hotcell/record/webhook-records.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { isWebhookSigned } from '../support/webhook-check.ts';

/** Requests that name where to tell of their end, with receivers on loopback. No tenant here has webhooks. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let hotcell: Hotcell;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house, { HOTCELL_WEBHOOK_NETWORKS: '127.0.0.0/8' });
  hotcell = await producer.client();
  await house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
});
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const run = { blocks: [{ language: 'bash', code: 'exit 3' }] };

async function told(receiver: Receiver, event: string) {
  const name = 'webhook-id';
  return await until(`${event} came`, async () => receiver.received.find(({ headers }) => headers[name] === event));
}

const deliveries = async (client = hotcell) => (await client.webhooks.deliveries('callbacks')).deliveries;

test('a run, a batch and a workflow tell their callback of their end, signed by the key that the API shows', async () => {
  await using receiver = await openReceiver((response) => response.writeHead(204).end());
  const callback = receiver.url;
  const { publicKey } = await hotcell.webhooks.callbacks();
  const one = await hotcell.submit({ ...run, callback });
  const { batch } = await hotcell.batches.create({ over: { items: [{ n: 1 }] }, callback, run });
  const { workflow } = await hotcell.workflows.begin({ name: 'calls', callback, steps: { a: { run } } });
  const quiet = await hotcell.submit(run);
  await Promise.all([one.result(), quiet.result()]);
  await house.clearFinished();
  for (const [event, data] of [
    [`run-${one.id}`, { run: one.id, outcome: 'failed' }],
    [`batch-${batch}-0`, { batch, round: 0, succeeded: 0, failed: 1, cancelled: 0, skipped: 0 }],
    [`workflow-${workflow}`, { workflow, outcome: 'failed' }],
  ] as const) {
    const { headers, body } = await told(receiver, event);
    assert.deepEqual(JSON.parse(body).data, { tenant: house.tenant, ...data });
    const signed = { id: event, timestamp: Number(headers['webhook-timestamp']), body };
    assert.ok(isWebhookSigned(publicKey, String(headers['webhook-signature']), signed));
  }
  assert.equal((await findSpec(house.store, house.tenant, one.id))?.spec.callback, callback);
  assert.equal((await hotcell.batches.show(batch)).callback, callback);
  assert.equal((await hotcell.workflows.show(workflow)).callback, callback);
  const listed = await until('all three are listed as delivered', async (note) => {
    const found = note(await deliveries());
    return found.length >= 3 && found.every(({ state }) => state === 'delivered') ? found : undefined;
  });
  // Neither runs of the batch nor a run that asked for nothing.
  assert.deepEqual(
    new Set(listed.map(({ event, url }) => `${event} ${url}`)),
    new Set([`run-${one.id} ${callback}`, `batch-${batch}-0 ${callback}`, `workflow-${workflow} ${callback}`]),
  );
  const before = receiver.received.length;
  await hotcell.webhooks.redeliver('callbacks', listed[0] ?? assert.fail('nothing listed'));
  await until('it came again', async () => receiver.received.length === before + 1);
});

test('a callback that may not be reached is refused, and so is one for each run of a batch or workflow', async () => {
  const { length } = await deliveries();
  for (const callback of ['https://10.0.0.1/', 'https://[::1]/', 'ftp://example.org/', 'https://me:pw@example.org/']) {
    const [steps, trigger] = [{ a: { run } }, { cron: '@daily' }];
    for (const [path, ask] of [
      ['callback', () => hotcell.submit({ ...run, callback })],
      ['callback', () => hotcell.batches.create({ over: { items: [{}] }, callback, run })],
      ['callback', () => hotcell.workflows.begin({ name: 'refused', callback, steps })],
      ['run.callback', () => hotcell.schedules.create({ name: 'no', trigger, run: { ...run, callback } })],
    ] as const)
      await assert.rejects(
        ask(),
        (error) => error instanceof HotcellError && error.issues?.[0]?.path === path,
        callback,
      );
  }
  const each = { ...run, callback: 'https://example.org/' };
  await assert.rejects(hotcell.batches.create({ over: { items: [{}] }, run: each }), /Give "callback" to the batch/);
  await assert.rejects(
    hotcell.workflows.begin({ name: 'refused', steps: { a: { run: each } } }),
    /Give "callback" to the workflow/,
  );
  assert.equal((await deliveries()).length, length);
});

test('a dead receiver with many deliveries holds up no callback to another host, and 410 ends a delivery', async () => {
  await using good = await openReceiver((response) => response.writeHead(204).end());
  await using gone = await openReceiver((response) => response.writeHead(410).end());
  const tenant = bed.tenant();
  const client = await producer.client('submitter', tenant);
  const tell = async (id: string, callback: string) => {
    const event = { version: 1, tenant, id, type: 'run.finished', at: new Date().toISOString(), data: {} } as const;
    await noteCalledEvent(house.store, event, callback);
  };
  const dead = 'http://127.0.0.2:9/';
  assert.notEqual(trackOf(dead), trackOf(good.url));
  for (let i = 0; i < 40; i++) await tell(`dead-${i}`, dead);
  await tell('good', good.url);
  await tell('gone', gone.url);
  await told(good, 'good');
  await told(gone, 'gone');
  const state = async (event: string) => (await deliveries(client)).find((one) => one.event === event)?.state;
  await until('the answer of the one that is gone is noted', async () => (await state('gone')) === 'failed');
  // The next one for the same receiver is sent all the same: a callback is for one request.
  await tell('gone-again', gone.url);
  await told(gone, 'gone-again');
  const other = await producer.client('submitter', bed.tenant());
  assert.deepEqual(
    await other.webhooks.deliveries('callbacks').catch((error: HotcellError) => error.code),
    'not_found',
  );
});
