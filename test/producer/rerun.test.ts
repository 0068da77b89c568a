import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RunId } from '@hotcell/contract/names.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { publishName } from '@hotcell/record/snapshot-name.ts';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import { freezeTree } from '../support/freezing.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { settled } from '../support/promise.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
});
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const View = z.looseObject({ inputs: z.array(z.looseObject({ snapshot: z.string() })), labels: z.looseObject({}) });

async function refused(path: string, body: unknown): Promise<{ detail: string; errors: { path: string }[] }> {
  const answer = await producer.ask('POST', path, { body: JSON.stringify(body) });
  assert.equal(answer.status, 400);
  return z
    .looseObject({ detail: z.string(), errors: z.array(z.looseObject({ path: z.string() })) })
    .parse(await answer.json());
}

async function posted(path: string, body: unknown): Promise<string> {
  const answer = await producer.ask('POST', path, { body: JSON.stringify(body) });
  const text = await answer.text();
  assert.equal(answer.status, 202, text);
  return z.object({ run: z.string() }).parse(JSON.parse(text)).run;
}

test('a rerun uses the same inputs, or on request what their names point to now, and names its original', async () => {
  const { tenant } = house;
  const publish = async (content: string) => {
    const { snapshot } = await freezeTree(house, tenant, { 'in.txt': content });
    await publishName(house.producer.store, tenant, 'sales', snapshot, 'the test', new Date());
    return snapshot;
  };
  const old = await publish('of then');
  const asked = { blocks: [{ language: 'bash', code: 'true' }], inputs: { data: 'sales' } };
  const first = await posted('/v1/runs', asked);
  const recent = await publish('of now');
  const same = await posted(`/v1/runs/${first}/rerun`, {});
  const latest = await posted(`/v1/runs/${first}/rerun`, { latestInputs: true });
  for (const [run, snapshot, repeats] of [
    [first, old, undefined],
    [same, old, first],
    [latest, recent, first],
  ] as const) {
    const view = View.parse(await (await producer.ask('GET', `/v1/runs/${run}`)).json());
    assert.deepEqual([view.inputs[0]?.snapshot, view.labels['rerun-of']], [snapshot, repeats]);
    assert.equal((await producer.ask('POST', `/v1/runs/${run}/cancel`)).status, 200);
  }
  await settled(house, [first, same, latest]);
});

test('the latest inputs of an uploaded folder are not known: the producer refuses old data until new data is named', async () => {
  const { tenant } = house;
  const freeze = async (content: string) => (await freezeTree(house, tenant, { 'in.txt': content })).snapshot;
  const [old, recent] = [await freeze('of then'), await freeze('of now')];
  const first = await posted('/v1/runs', { blocks: [{ language: 'bash', code: 'true' }], inputs: { data: old } });
  const { detail, errors } = await refused(`/v1/runs/${first}/rerun`, { latestInputs: true });
  assert.match(detail, /inputs\.data/);
  assert.deepEqual(
    errors.map(({ path }) => path),
    ['inputs.data'],
  );
  const again = await posted(`/v1/runs/${first}/rerun`, { latestInputs: true, inputs: { data: recent } });
  const view = View.parse(await (await producer.ask('GET', `/v1/runs/${again}`)).json());
  assert.equal(view.inputs[0]?.snapshot, recent);
  for (const run of [first, again]) assert.equal((await producer.ask('POST', `/v1/runs/${run}/cancel`)).status, 200);
  await settled(house, [first, again]);
});

test('a rerun replaces the params that it names and keeps the others', async () => {
  const blocks = [{ language: 'bash', code: 'true' }];
  const first = await posted('/v1/runs', { blocks, params: { day: 1, city: 'Rome' } });
  const again = await posted(`/v1/runs/${first}/rerun`, { params: { day: 2 } });
  const spec = await findSpec(house.producer.store, house.tenant, RunId.parse(again));
  assert.deepEqual(spec?.spec.params, { day: 2, city: 'Rome' });
  const list = await posted('/v1/runs', { blocks, params: [1] });
  assert.match((await refused(`/v1/runs/${list}/rerun`, { params: { day: 2 } })).detail, /not an object/);
  for (const run of [first, again, list])
    assert.equal((await producer.ask('POST', `/v1/runs/${run}/cancel`)).status, 200);
  await settled(house, [first, again, list]);
});
