import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Hotcell } from '@hotcell/client/index.ts';
import { mostOpenBatches } from '@hotcell/contract/batch.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { newRunId, RunId } from '@hotcell/contract/names.ts';
import { mostWebhooks } from '@hotcell/contract/webhook.ts';
import { workflowLimits } from '@hotcell/contract/workflow.ts';
import { confirmWorkflowSlot } from '@hotcell/producer/workflows/workflow-slots.ts';
import { objects } from '@hotcell/record/objects.ts';
import { change } from '@hotcell/record/read-write.ts';
import { putWebhook, webhooksOf } from '@hotcell/record/webhook-records.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

/** The bounds on how many a tenant has hold, although its requests come at once, and to two producers. */
let bed: Bed;
let house: House;
const clients: Hotcell[] = [];
const producers: RunningProducer[] = [];

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producers.push(await startProducer(bed, house), await startProducer(bed, house));
  for (const producer of producers) clients.push(await producer.client());
});
after(async () => {
  for (const producer of producers) await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

interface Filled {
  kind: Parameters<typeof objects.slots.key>[0];
  tenant: string;
}
const run = { blocks: [{ language: 'bash', code: 'print x' }] };
const atOnce = 20;
const free = 3;
const never = new Date(Date.now() + 3_600_000).toISOString();
const longAgo = new Date(0).toISOString();

/** Slots of others that a tenant has. */
async function fill({ kind, tenant }: Filled, count: number, idOf: () => string, at = never): Promise<string[]> {
  const ids = Array.from({ length: count }, idOf);
  const more = ids.map((id) => ({ id, at }));
  await change(
    house.store,
    objects.slots,
    (before) => ({ version: 1 as const, places: [...(before?.value.places ?? []), ...more] }),
    kind,
    tenant,
  );
  return ids;
}

/** Twenty requests at once. Answers what those made that were not refused for want of a slot. */
async function madeAtOnce<T>(make: (hotcell: Hotcell) => Promise<T>): Promise<T[]> {
  const asked = Array.from({ length: atOnce / clients.length }, () => clients.map(make)).flat();
  const made: T[] = [];
  for (const one of await Promise.allSettled(asked))
    if (one.status === 'fulfilled') made.push(one.value);
    else assert.ok(one.reason instanceof HotcellError && one.reason.code === 'too_many', String(one.reason));
  return made;
}

test('of twenty webhooks for three slots three are made, and one that is removed makes room', async () => {
  const make = ({ webhooks }: Hotcell) => webhooks.create({ url: 'https://example.org/', on: ['run.finished'] });
  await fill({ kind: 'webhooks', tenant: house.tenant }, mostWebhooks - free, randomUUID);
  const [first, ...others] = await madeAtOnce(make);
  assert.equal(others.length, free - 1);
  const [hotcell = assert.fail()] = clients;
  assert.equal((await hotcell.webhooks.list()).length, free);
  await hotcell.webhooks.remove(first?.id ?? '');
  assert.equal((await madeAtOnce(make)).length, 1);
});

test('of twenty workflows for three slots three begin, and one that ends makes room', async () => {
  const make = ({ workflows }: Hotcell) => workflows.begin({ name: 'many', steps: { one: { run } } });
  await fill({ kind: 'workflows', tenant: house.tenant }, workflowLimits.open - free, newRunId);
  const [first, ...others] = await madeAtOnce(make);
  assert.equal(others.length, free - 1);
  const [hotcell = assert.fail()] = clients;
  assert.equal((await hotcell.workflows.list()).workflows.length, free, 'those that are refused leave nothing');
  await hotcell.workflows.cancel(first?.workflow ?? '');
  assert.equal((await hotcell.workflows.end(first?.workflow ?? '')).outcome, 'cancelled');
  await until('its slot is free', async () => (await madeAtOnce(make)).length === 1);
});

test('of twenty batches for three slots three begin, and one that ends makes room for its own rerun', async () => {
  const make = ({ batches }: Hotcell) => batches.create({ over: { items: [{ n: 1 }] }, run });
  await fill({ kind: 'batches', tenant: house.tenant }, mostOpenBatches - free, () => `${newRunId()}/0`);
  const [first, ...others] = await madeAtOnce(make);
  assert.equal(others.length, free - 1);
  const [hotcell = assert.fail()] = clients;
  assert.equal((await hotcell.batches.list()).batches.length, free, 'those that are refused leave nothing');
  const batch = first?.batch ?? '';
  await hotcell.batches.cancel(batch);
  await until('it has ended', async (note) => note(await hotcell.batches.show(batch)).endedAt !== null);
  await until('its slot is free', () =>
    hotcell.batches.rerun(batch).catch((error: unknown) => {
      assert.ok(error instanceof HotcellError && error.code === 'too_many');
      return undefined;
    }),
  );
  assert.deepEqual(await madeAtOnce(make), [], 'its next round has the slot');
});

test('a slot whose producer died is free again, and a producer that was only held up makes nothing any more', async () => {
  const tenant = bed.tenant();
  const hotcell = (await producers[0]?.client('submitter', tenant)) ?? assert.fail();
  const [webhook = ''] = await fill({ kind: 'webhooks', tenant }, mostWebhooks, randomUUID, longAgo);
  const { id } = await hotcell.webhooks.create({ url: 'https://example.org/', on: ['run.finished'] });
  const [standing = assert.fail()] = await webhooksOf(house.store, tenant);
  await assert.rejects(putWebhook(house.store, { ...standing.value, id: webhook }, undefined), { code: 'conflict' });
  assert.deepEqual(
    (await hotcell.webhooks.list()).map((one) => one.id),
    [id],
  );
  const [workflow = ''] = await fill({ kind: 'workflows', tenant }, workflowLimits.open, newRunId, longAgo);
  await hotcell.workflows.begin({ name: 'next', steps: { one: { run } } });
  await fill({ kind: 'workflows', tenant }, workflowLimits.open - 1, newRunId);
  const late = confirmWorkflowSlot(house.store, { tenant, id: RunId.parse(workflow) });
  await assert.rejects(late, { code: 'too_many' });
});
