import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Hotcell } from '@hotcell/client/index.ts';
import { batchesOf } from '@hotcell/record/batch-records.ts';
import { workflowsOf } from '@hotcell/record/workflow-records.ts';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { problemOf } from '../support/problem.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

/** Requests for batches and workflows that are sent again with the same key. */
let bed: Bed;
let house: House;
let producer: RunningProducer;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  await house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
});
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const run = { blocks: [{ language: 'bash', code: 'print x' }] };
const Made = z.looseObject({ batch: z.string().optional(), workflow: z.string().optional() });

const kinds = [
  {
    path: '/v1/batches',
    of: 'batch',
    body: { over: { items: [{ n: 1 }] }, run },
    other: { over: { items: [{ n: 2 }] }, run },
    made: async (tenant: string) => await Array.fromAsync(batchesOf(house.store, tenant)),
    ended: async (hotcell: Hotcell, id: string) => (await hotcell.batches.show(id)).state,
  },
  {
    path: '/v1/workflows',
    of: 'workflow',
    body: { name: 'one', steps: { a: { run } } },
    other: { name: 'other', steps: { a: { run } } },
    made: async (tenant: string) => await Array.fromAsync(workflowsOf(house.store, tenant)),
    ended: async (hotcell: Hotcell, id: string) => (await hotcell.workflows.show(id)).outcome,
  },
] as const;

for (const { path, of, body, other, made, ended } of kinds) {
  const post = async (at: RunningProducer, tenant: string, sent: object) =>
    await at.ask('POST', path, {
      key: await at.key('submitter', tenant),
      body: JSON.stringify(sent),
      headers: { 'idempotency-key': 'nightly' },
    });
  const idOf = async (answer: Response) => {
    assert.equal(answer.status, 201, await answer.clone().text());
    return Made.parse(await answer.json())[of] ?? '';
  };

  test(`a repeated key and request give the same ${of}, and the key with another request is refused`, async () => {
    const tenant = bed.tenant();
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(producer, tenant, body)));
    const [id = '', ...others] = new Set(await Promise.all(answers.map(idOf)));
    assert.deepEqual(others, []);
    assert.deepEqual(await made(tenant), [id]);
    const refused = await problemOf(await post(producer, tenant, other));
    assert.deepEqual([refused.status, refused.code], [422, 'idempotency_mismatch']);
    const hotcell = await producer.client('submitter', tenant);
    await until('it has succeeded', async (note) => note(await ended(hotcell, id)) === 'succeeded');
    assert.equal(await idOf(await post(producer, tenant, body)), id, 'also when it has ended');
    assert.deepEqual(await made(tenant), [id]);
  });

  for (const point of [`${of}.named`, `${of}.made`])
    test(`a producer that dies at ${point} leaves one ${of} to the caller that asks again`, async () => {
      const tenant = bed.tenant();
      await using dying = await startProducer(bed, house, { HOTCELL_CRASH_AT: point });
      await assert.rejects(post(dying, tenant, body));
      await dying.child.ended;
      const id = await idOf(await post(producer, tenant, body));
      assert.deepEqual(await made(tenant), [id]);
      const hotcell = await producer.client('submitter', tenant);
      await until('it has succeeded', async (note) => note(await ended(hotcell, id)) === 'succeeded');
    });
}

test('the SDK sends a key of its own, so that an answer that is lost makes no second one', async () => {
  await using proxy = await openHttpProxy(producer.url);
  const tenant = bed.tenant();
  const hotcell = new Hotcell({ url: proxy.url, apiKey: await producer.key('submitter', tenant) });
  const lost = new Set<string>();
  proxy.fault = ({ method, path }) => {
    if (method !== 'POST' || lost.has(path)) return undefined;
    lost.add(path);
    return { kind: 'lose_answer' };
  };
  const { workflow } = await hotcell.workflows.begin({ name: 'one', steps: { a: { run } } });
  const { batch } = await hotcell.batches.create({ over: { items: [{ n: 1 }] }, run });
  assert.equal(lost.size, 2);
  assert.deepEqual(await Array.fromAsync(workflowsOf(house.store, tenant)), [workflow]);
  assert.deepEqual(await Array.fromAsync(batchesOf(house.store, tenant)), [batch]);
});
