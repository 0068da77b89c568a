import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { workKeys } from '@hotcell/record/layout.ts';
import { Claim } from '@hotcell/record/schemas.ts';
import type { Steps } from '@hotcell/executor-worker/worker.ts';
import { Live } from '@hotcell/outside/live/live.ts';
import { Queues } from '@hotcell/outside/queue/queues.ts';
import { type CancelAsked, cancelRun } from '@hotcell/producer/cancel.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { asleep, spawnNode } from '../support/child.ts';
import { echoSteps } from '../support/echo.ts';
import { type House, openHouse } from '../support/house.ts';
import { placeOf } from '../support/place.ts';
import { resultOf, running, settled } from '../support/promise.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

const cancel = (house: House, run: string, more: Partial<CancelAsked> = {}) =>
  cancelRun(house.producer, { tenant: house.tenant, run, by: 'anna', reason: 'not needed', ...more });

/** The worker may commit before the answer is written, so either word is right. */
async function cancelWorking(house: House, run: string, deps = house.producer) {
  const asked = { tenant: house.tenant, run, by: 'anna', reason: 'not needed' };
  assert.match(await cancelRun(deps, asked), /^cancell(ing|ed)$/);
}

const beatOf = async (house: House, name: string) =>
  (await house.producer.live.workers.all()).find((worker) => worker.name === name);
const isIn = async (house: House, name: string, state: string) => (await beatOf(house, name))?.state === state;

test('a run that no worker has begun is cancelled at once, and its ticket is removed', async () => {
  await using house = await openHouse(bed);
  const { run } = await house.submit('print hello');
  assert.equal(await cancel(house, run), 'cancelled');
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'cancelled');
  assert.equal(result.reason, 'Cancelled by anna: not needed');
  assert.deepEqual(result.attempts, []);
  assert.equal((await placeOf(house, run)).at, 'missing');
  await settled(house, [run]);
});

test('a cancelled run that was executing keeps the log it had written', async () => {
  await using house = await openHouse(bed);
  await house.worker('one');
  const { run } = await house.submit('print begun\nhold');
  await running(house, run);
  await cancelWorking(house, run);
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'cancelled');
  assert.equal(result.reason, 'Cancelled by anna: not needed');
  assert.equal(result.logs.bytes, 'begun\n'.length);
  await settled(house, [run]);
});

test('a run that is cancelled while its inputs are fetched executes nothing', async () => {
  await using house = await openHouse(bed);
  const stage: Steps['stage'] = async (_spec, _effective, { signal }) => {
    if (!signal.aborted) await once(signal, 'abort');
    throw signal.reason;
  };
  await house.worker('one', { steps: { ...echoSteps, stage } });
  const { run } = await house.submit('print hello');
  await running(house, run, 1, 'staging');
  await cancelWorking(house, run);
  const result = await resultOf(house, run);
  assert.deepEqual([result.outcome, result.reason], ['cancelled', 'Cancelled by anna: not needed']);
  assert.deepEqual(result.blocks, []);
  await settled(house, [run]);
});

test('a run cancelled between its program’s end and its commit keeps its log and outputs', async () => {
  await using house = await openHouse(bed);
  const env = await house.settings('worker', { HOTCELL_WORKER_NAME: 'one', HOTCELL_CRASH_AT: 'worker.executed:stop' });
  await using worker = spawnNode('test/faults/victims/worker.ts', env);
  const { run } = await house.submit('print hello\noutput something');
  await worker.saying('worker.executed');
  await asleep(worker);
  assert.equal(await cancel(house, run), 'cancelling');
  worker.kill('SIGCONT');
  const result = await resultOf(house, run);
  assert.deepEqual([result.outcome, result.reason], ['cancelled', 'Cancelled by anna: not needed']);
  assert.deepEqual([result.logs.bytes, result.outputs.files.length, result.attempts.length], ['hello\n'.length, 1, 1]);
  await settled(house, [run]);
  await worker.stop();
});

test('a cancel by a producer that cannot reach Valkey is delivered by another producer', async () => {
  const through = new URL(bed.installation.redisUrl);
  await using proxy = await openTcpProxy({ host: through.hostname, port: Number(through.port) });
  through.port = String(proxy.port);
  await using house = await openHouse(bed);
  const reach = { url: through.href, installation: house.id };
  await using live = await Live.open(reach);
  await using queues = new Queues(reach);
  await house.worker('one');
  house.reconciler();
  const { run } = await house.submit('hold');
  await running(house, run);
  proxy.cut();
  await cancelWorking(house, run, { ...house.producer, live, queues });
  assert.equal((await resultOf(house, run)).reason, 'Cancelled by anna: not needed');
  await settled(house, [run]);
});

test('cancelling a finished run says so, and an unknown run is not found', async () => {
  await using house = await openHouse(bed);
  await house.worker('one');
  const { run } = await house.submit('print hello');
  await resultOf(house, run);
  await assert.rejects(cancel(house, run), { code: 'finished_already' });
  await assert.rejects(cancel(house, '01890000-0000-7000-8000-000000000000'), { code: 'not_found' });
  await assert.rejects(cancel(house, run, { tenant: 'somebody-else' }), { code: 'not_found' });
  await settled(house, [run]);
});

test('a cancel that exists only in Valkey is ignored', async () => {
  await using house = await openHouse(bed);
  await house.worker('one');
  const { run } = await house.submit('hold');
  await running(house, run);
  const { tenant } = house;
  const forged = { version: 1, run, tenant, by: 'mallory', reason: 'forged', at: new Date().toISOString() } as const;
  await house.producer.live.cancel(forged);
  // By the time another run has finished, the worker has seen both the message and its own heartbeat's answer.
  const other = await house.submit('print hello');
  await resultOf(house, other.run);
  await cancelWorking(house, run);
  assert.equal((await resultOf(house, run)).reason, 'Cancelled by anna: not needed');
  await settled(house, [run, other.run]);
});

test('a draining worker finishes its runs and takes no more', async () => {
  await using house = await openHouse(bed);
  const first = await house.worker('first', { env: { HOTCELL_DRAIN_SECONDS: '60' } });
  const { run } = await house.submit('hold');
  await running(house, run);
  const stopped = first.stop();
  await until('the worker says that it drains', async () => {
    const workers = await house.producer.live.workers.all();
    return workers.some((worker) => worker.name === 'first' && worker.state === 'draining');
  });
  const later = await house.submit('print hello');
  await cancel(house, run);
  await stopped;
  assert.equal((await resultOf(house, run)).attempts.length, 1);
  assert.equal((await placeOf(house, later.run)).at, 'waiting');
  await house.worker('second');
  assert.equal((await resultOf(house, later.run)).attempts[0]?.worker, 'second');
  await settled(house, [run, later.run]);
});

test('a run that outlasts the drain grace is handed back without using up an attempt', async () => {
  await using house = await openHouse(bed);
  const { run } = await house.submit('hold');
  for (const name of ['first', 'second', 'third', 'fourth']) {
    const worker = await house.worker(name, { env: { HOTCELL_DRAIN_SECONDS: '0' } });
    await running(house, run, ['first', 'second', 'third', 'fourth'].indexOf(name) + 1);
    await worker.stop();
  }
  await house.worker('last');
  assert.equal(await running(house, run, 5), 'last');
  await cancel(house, run);
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'cancelled');
  assert.deepEqual(
    result.attempts.map((attempt) => attempt.error?.code),
    ['draining', 'draining', 'draining', 'draining', undefined],
  );
  await settled(house, [run]);
});

test('a program that ignores its end does not hold up a worker that drains', async () => {
  await using house = await openHouse(bed);
  const seal: Steps['seal'] = async (plan, left, asked) =>
    Object.assign(await echoSteps.seal(plan, left, asked), { kill: () => undefined });
  const first = await house.worker('first', { steps: { ...echoSteps, seal }, env: { HOTCELL_DRAIN_SECONDS: '0' } });
  const { run } = await house.submit('hold');
  await running(house, run);
  await first.stop();
  await house.worker('second');
  await running(house, run, 2);
  await cancel(house, run);
  const result = await resultOf(house, run);
  assert.deepEqual(
    result.attempts.map((attempt) => attempt.error?.code),
    ['draining', undefined],
  );
  await settled(house, [run]);
});

test('a worker can be drained remotely', async () => {
  await using house = await openHouse(bed);
  await house.worker('first');
  const before = await house.submit('print hello');
  await resultOf(house, before.run);
  await house.producer.live.workers.order('first', 'drain');
  await until('the worker is drained', async () => await isIn(house, 'first', 'drained'));
  const { run } = await house.submit('print hello');
  await house.worker('second');
  assert.equal((await resultOf(house, run)).attempts[0]?.worker, 'second');
  await settled(house, [before.run, run]);
});

test('a drained worker takes runs again when it is ordered to resume, and only then', async () => {
  await using house = await openHouse(bed);
  const { workers } = house.producer.live;
  await house.worker('only');
  // An order from before its start is forgotten.
  await until('the worker reports', async () => await beatOf(house, 'only'));
  await workers.order('only', 'drain');
  await until('the worker is drained', async () => await isIn(house, 'only', 'drained'));
  const { run } = await house.submit('print hello');
  // As after a Valkey that lost its data: an order that is gone is no order to resume.
  const asked = await workers.forgetOrder('only').then(async () => await beatOf(house, 'only'));
  await until('the worker reports again', async () => (await beatOf(house, 'only'))?.at !== asked?.at);
  assert.equal(await isIn(house, 'only', 'drained'), true);
  await workers.order('only', 'resume');
  assert.equal((await resultOf(house, run)).attempts[0]?.worker, 'only');
  await workers.order('only', 'drain');
  await until('the worker is drained again', async () => await isIn(house, 'only', 'drained'));
  await workers.order('only', 'resume');
  const { run: last } = await house.submit('print hello');
  assert.equal((await resultOf(house, last)).outcome, 'succeeded');
  await settled(house, [run, last]);
});

test('two workers share the work, and each run is executed by one of them', async () => {
  await using house = await openHouse(bed);
  const one = { env: { HOTCELL_RUNS: '1' } };
  await house.worker('left', one);
  await house.worker('right', one);
  const held = [await house.submit('hold'), await house.submit('hold')];
  const where = await Promise.all(held.map(({ run }) => running(house, run)));
  assert.deepEqual(where.toSorted(), ['left', 'right']);
  await Promise.all(held.map(({ run }) => cancel(house, run)));
  const more = await Promise.all(Array.from({ length: 20 }, (_, i) => house.submit(`print ${i}`)));
  for (const { run } of more) assert.equal((await resultOf(house, run)).attempts.length, 1);
  await settled(
    house,
    [...held, ...more].map(({ run }) => run),
  );
});

test('a worker that lost Valkey finds in the bucket that its run was taken over', async () => {
  await using house = await openHouse(bed);
  await house.worker('one');
  const { run } = await house.submit('hold');
  await running(house, run);
  // The worker that took over claims the next attempt.
  const { store } = house;
  const next: Claim = { version: 1, run, attempt: 2, worker: 'two', nonce: 'n', startedAt: new Date().toISOString() };
  await store.put(store.work, workKeys.claim(run, 2), JSON.stringify(next));
  await house.producer.live.cancel({
    version: 1,
    run,
    tenant: house.tenant,
    by: 'x',
    reason: 'look',
    at: next.startedAt,
  });
  await until('the run has no heartbeat', async () => {
    const [beat] = await house.producer.live.statusesOf([run]);
    return beat === undefined;
  });
  // Its ticket is gone too. Recovery queues the run again, and the next worker finds two attempts without a result.
  house.reconciler();
  assert.equal(await running(house, run, 3), 'one');
  await cancel(house, run);
  const result = await resultOf(house, run);
  assert.deepEqual(
    result.attempts.map((attempt) => attempt.error?.code),
    ['lost_claim', 'worker_gone', undefined],
  );
  await settled(house, [run]);
});
