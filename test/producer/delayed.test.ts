import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Waiting } from '@hotcell/contract/api/runs.ts';
import { z } from 'zod';
import { openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { problemOf } from '../support/problem.ts';
import { startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

/** Runs that are to begin later. */
const bed = await openBed();
const house = await openHouse(bed);
const producer = await startProducer(bed, house);
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const hour = 60 * 60_000;
const Row = z.looseObject({ run: z.string(), waiting: Waiting });
const ask = async (notBefore: string) =>
  await producer.ask('POST', '/v1/runs', {
    body: JSON.stringify({ blocks: [{ language: 'bash', code: 'print hello' }], notBefore }),
  });
const submitted = async (notBefore: string) => Row.pick({ run: true }).parse(await (await ask(notBefore)).json()).run;

test('a run that is delayed for long takes no room in the queue, says why it waits, and counts for its tenant', async () => {
  const queue = house.producer.queues.of('runc');
  const [far, near] = [inMs(29 * 24 * hour), inMs(hour / 2)];
  const [later, sooner] = [await submitted(far), await submitted(near)];
  assert.equal(await queue.depth(), 1);
  assert.deepEqual(await queue.missing([later, sooner]), [later]);
  const detail = Row.parse(await (await producer.ask('GET', `/v1/runs/${later}`)).json());
  assert.deepEqual([detail.waiting.code, detail.waiting.message], ['later', `Not before ${far}, as requested.`]);
  const { runs } = z.object({ runs: z.array(Row) }).parse(await (await producer.ask('GET', '/v1/runs')).json());
  assert.deepEqual(
    runs.map(({ waiting }) => waiting.code),
    ['later', 'later'],
  );
  // Also when recovery has looked at all, after Valkey was emptied.
  await house.emptyValkey();
  await producer
    .ask('POST', '/v1/rebuild', { key: await producer.key('admin', 'default') })
    .then((answer) => answer.text());
  await until(
    'both are counted again',
    async () => (await house.producer.live.tenants.use(house.tenant)).waiting === 2,
  );
  assert.deepEqual(await queue.missing([later, sooner]), [later]);
  for (const run of [later, sooner]) {
    const cancelled = await producer.ask('POST', `/v1/runs/${run}/cancel`);
    assert.equal(z.looseObject({ outcome: z.string() }).parse(await cancelled.json()).outcome, 'cancelled');
  }
  assert.equal((await house.producer.live.tenants.use(house.tenant)).waiting, 0);
});

test('recovery queues a delayed run when its time is near', async () => {
  // As if it had been accepted long ago: its ticket is due since a moment.
  const { run } = await house.submit('print hello', { spec: { notBefore: inMs(hour + 3_000) }, queue: 'runc' });
  const queue = house.producer.queues.of('runc');
  assert.deepEqual(await queue.missing([run]), [run]);
  const operator = await producer.key('admin', 'default');
  await until('it has a ticket', async () => {
    await (await producer.ask('POST', '/v1/rebuild', { key: operator })).text();
    return (await queue.missing([run])).length === 0;
  });
  assert.equal((await queue.places([run]))[0]?.at, 'delayed');
});

test('no run is delayed by more than a month', async () => {
  for (const notBefore of ['9999-12-31T23:59:59Z', inMs(31 * 24 * hour)]) {
    const problem = await problemOf(await ask(notBefore));
    assert.deepEqual([problem.status, problem.errors[0]?.path], [422, 'notBefore']);
    assert.match(problem.errors[0]?.message ?? '', /at most 30 days/);
  }
});
