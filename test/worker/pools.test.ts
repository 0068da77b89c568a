import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import { waitingOf } from '@hotcell/producer/waiting.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { echoQueue } from '../support/echo.ts';
import { type House, openHouse } from '../support/house.ts';
import { resultOf, settled } from '../support/promise.ts';
import { until } from '../support/until.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

const workers = async (house: House) =>
  new Map((await house.producer.live.workers.all()).map((worker) => [worker.name, worker]));

test('a pool’s workers take only runs for the pool, and other workers take none of them', async () => {
  await using house = await openHouse(bed);
  const pool = 'runc-acme';
  await house.worker('everybodys');
  const { run: theirs } = await house.submit('print hello', { queue: pool });
  const { run: other } = await house.submit('print hello');
  assert.equal((await resultOf(house, other)).attempts[0]?.worker, 'everybodys');
  assert.equal((await waitingOf(house.producer, { run: theirs, tenant: house.tenant, queue: pool })).code, 'no_worker');
  await house.worker('acmes', { env: { HOTCELL_QUEUES: pool }, steps: echoOn(pool) });
  assert.equal((await resultOf(house, theirs)).attempts[0]?.worker, 'acmes');
  const more = await Promise.all(Array.from({ length: 8 }, () => house.submit('print hello')));
  for (const { run } of more) assert.equal((await resultOf(house, run)).attempts[0]?.worker, 'everybodys');
  await until(
    'the tickets for the pool are gone',
    async () => (await house.producer.queues.of(pool).missing([theirs])).length === 1,
  );
  await settled(house, [theirs, other, ...more.map(({ run }) => run)]);
});

for (const [what, env, limits] of [
  ['CPU', { HOTCELL_CPUS: '1' }, { cpus: 0.6 }],
  ['memory', { HOTCELL_MEMORY_BYTES: String(2 ** 30) }, { memoryBytes: 600 * 2 ** 20 }],
] as const)
  test(`a worker takes as many runs as its ${what} allows; the rest go elsewhere, or wait and say why`, async () => {
    await using house = await openHouse(bed);
    await house.worker('left', { env });
    await house.worker('right', { env });
    const submit = async () => (await house.submit('hold', { spec: { limits } })).run;
    const held = [await submit(), await submit()];
    await until('each worker has a run', async () => {
      const all = await workers(house);
      return [...all.values()].every(({ used }) => used.runs === 1) && all.size === 2;
    });
    const third = await submit();
    const waits = await until('the third says why it waits', async () => {
      const { code } = await waitingOf(house.producer, { run: third, tenant: house.tenant, queue: echoQueue });
      return code === 'no_room' || code === 'queued' ? code : undefined;
    });
    assert.ok(waits);
    for (const { used } of (await workers(house)).values()) assert.equal(used.runs, 1);
    for (const run of [...held, third]) {
      await cancelRun(house.producer, { tenant: house.tenant, run, by: 'anna', reason: 'enough' });
      assert.equal((await resultOf(house, run)).attempts.length <= 1, true);
    }
    await settled(house, [...held, third]);
  });
