import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
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
