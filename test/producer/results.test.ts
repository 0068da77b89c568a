import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ShownResult } from '@hotcell/contract/api/runs.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { committedAttempt } from '@hotcell/contract/result.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
});
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const wait = { prefer: 'wait=60' };
const parsed = async (answer: Response) => {
  assert.equal(answer.status, 200, await answer.clone().text());
  return ShownResult.parse(await answer.json());
};
const waited = async (code: string) => {
  const body = JSON.stringify({ blocks: [{ language: 'sh', code }] });
  return await parsed(await producer.ask('POST', '/v1/runs', { body, headers: wait }));
};

test('a result that was waited for says what the program wrote', async () => {
  const { run, stdout, stderr, truncated } = await waited('print hello');
  assert.deepEqual([stdout, stderr, truncated], ['hello\n', '', false]);
  const again = await parsed(await producer.ask('GET', `/v1/runs/${run}`, { headers: wait }));
  assert.equal(again.stdout, 'hello\n');
});

test('a result that was not waited for says it if it is asked', async () => {
  const { run } = await waited('print hello');
  const brief = await parsed(await producer.ask('GET', `/v1/runs/${run}`));
  assert.deepEqual([brief.stdout, brief.stderr, brief.truncated], [undefined, undefined, undefined]);
  const asked = await parsed(await producer.ask('GET', `/v1/runs/${run}?include=stdout`));
  assert.deepEqual([asked.stdout, asked.stderr], ['hello\n', undefined]);
});

test('a log that is damaged costs a waiting caller what it says, not the result', async () => {
  const result = await waited('print hello');
  const key = recordKeys.log(house.tenant, result.run, committedAttempt(result) ?? assert.fail('no attempt counts'));
  await house.store.put(house.store.record, key, 'no log');
  const still = await parsed(await producer.ask('GET', `/v1/runs/${result.run}`, { headers: wait }));
  assert.deepEqual([still.outcome, still.stdout], ['succeeded', undefined]);
  const asked = await producer.ask('GET', `/v1/runs/${result.run}?include=stdout`);
  assert.equal(asked.status, 500);
  assert.match(await asked.text(), /record_damaged/);
});
