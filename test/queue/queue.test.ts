import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newRunId } from '@hotcell/contract/names.ts';
import type { Entry, QueuePlace, Queue, Served } from '@hotcell/outside/queue/queue.ts';
import { Queues } from '@hotcell/outside/queue/queues.ts';
import * as bull from 'bullmq';
import { Redis } from 'ioredis';
import { type Bed, openBed } from '../support/bed.ts';
import { spawnNode } from '../support/child.ts';
import { forget } from '../support/house.ts';
import { until } from '../support/until.ts';
import { consume } from './consumer.ts';

let bed: Bed;
let queues: Queues;
let settings: { url: string; installation: string };
let made = 0;

before(async () => {
  bed = await openBed();
  settings = { url: bed.installation.redisUrl, installation: bed.id() };
  queues = new Queues(settings);
});
after(async () => {
  await queues[Symbol.asyncDispose]();
  await forget(settings.url, settings.installation);
  await bed[Symbol.asyncDispose]();
});

const nextName = () => `q${made++}`;
const newQueue = (): Queue => queues.of(nextName());

async function add(queue: Queue, more: Partial<Entry> = {}): Promise<string> {
  const run = newRunId();
  await queue.enqueue({ of: run }, { run, tenant: 'a', priority: 5, ...more });
  return run;
}
const placeOf = async (queue: Queue, run: string): Promise<QueuePlace | undefined> => (await queue.places([run]))[0];

test('a ticket is served under its run, as it was put in, and is gone afterwards', async () => {
  const queue = newQueue();
  const run = await add(queue);
  await using consumer = consume(queue);
  await consumer.first(1);
  assert.deepEqual(consumer.taken, [{ id: run, ticket: { of: run }, mayHaveBegun: false }]);
  await until('it is acknowledged', async () => consumer.acked.length > 0);
  assert.deepEqual(consumer.acked, [run]);
  assert.deepEqual(await queue.missing([run]), [run]);
});

test('adding a run again changes nothing: the first ticket is served, once', async () => {
  const queue = newQueue();
  const run = await add(queue);
  await queue.enqueue('another ticket', { run, tenant: 'b', priority: 9, notBefore: new Date('2999-01-01') });
  assert.equal(await queue.depth(), 1);
  const last = await add(queue);
  await using consumer = consume(queue);
  assert.deepEqual(await consumer.first(2), [run, last]);
  assert.deepEqual(consumer.taken[0]?.ticket, { of: run });
});

test('a delayed ticket is not served before its time, and says when that is', async () => {
  const queue = newQueue();
  const due = new Date(Date.now() + 700);
  const run = await add(queue, { notBefore: due });
  assert.deepEqual(await placeOf(queue, run), { at: 'delayed', due });
  let servedAt = 0;
  await using consumer = consume(queue, async () => {
    servedAt = Date.now();
    return { kind: 'done' };
  });
  await consumer.first(1);
  assert.ok(servedAt >= due.getTime(), `served ${due.getTime() - servedAt} ms early`);
});

test('the queue knows where each run stands, which are missing, and how many wait', async () => {
  const queue = newQueue();
  const [first, second] = [await add(queue), await add(queue)];
  const delayed = await add(queue, { notBefore: new Date('2999-01-01') });
  const unknown = newRunId();
  assert.deepEqual(await queue.places([second, unknown, delayed, first]), [
    { at: 'waiting', before: 1 },
    { at: 'missing' },
    { at: 'delayed', due: new Date('2999-01-01') },
    { at: 'waiting', before: 0 },
  ]);
  assert.deepEqual(await queue.missing([first, unknown, delayed]), [unknown]);
  assert.equal(await queue.depth(), 3);
  const release = Promise.withResolvers<Served>();
  await using consumer = consume(queue, () => release.promise);
  await consumer.first(1);
  assert.deepEqual(await queue.places([first, second]), [{ at: 'taken' }, { at: 'waiting', before: 0 }]);
  assert.equal(await queue.depth(), 2);
  release.resolve({ kind: 'done' });
});

test('a ticket is removed while it waits or is delayed, and stays with the worker that has it', async () => {
  const queue = newQueue();
  const [taken, waiting] = [await add(queue), await add(queue)];
  const delayed = await add(queue, { notBefore: new Date('2999-01-01') });
  const release = Promise.withResolvers<Served>();
  await using consumer = consume(queue, () => release.promise);
  await consumer.first(1);
  for (const run of [taken, waiting, delayed, newRunId()]) await queue.remove(run);
  assert.deepEqual(await queue.missing([taken, waiting, delayed]), [waiting, delayed]);
  release.resolve({ kind: 'done' });
});

test('a refused ticket leaves the queue, and a new one for its run may come', async () => {
  const queue = newQueue();
  const run = await add(queue);
  const answers: Served[] = [{ kind: 'refused', why: 'forged' }, { kind: 'done' }];
  await using consumer = consume(queue, async () => answers.shift() ?? { kind: 'done' });
  await until('it is refused', async () => (await queue.missing([run])).length === 1);
  await queue.enqueue('the real one', { run, tenant: 'a', priority: 5 });
  await consumer.first(2);
  assert.deepEqual(
    consumer.taken.map(({ ticket }) => ticket),
    [{ of: run }, 'the real one'],
  );
});

test('a ticket that is served later or given back comes again before others, and is known to have been taken', async () => {
  for (const answer of [{ kind: 'later', afterMs: 300 }, { kind: 'back' }] as const) {
    const queue = newQueue();
    const run = await add(queue);
    const answers: Served[] = [answer];
    const hold = Promise.withResolvers<Served>();
    await using consumer = consume(queue, async () => answers.shift() ?? hold.promise);
    await consumer.first(1);
    await until('it comes again', async () => consumer.taken.length === 2);
    assert.deepEqual(
      consumer.taken.map(({ id, mayHaveBegun }) => [id, mayHaveBegun]),
      [
        [run, false],
        [run, true],
      ],
    );
    hold.resolve({ kind: 'done' });
  }
});

test('what recovery queues may have begun', async () => {
  const queue = newQueue();
  await add(queue, { recovered: true });
  await using consumer = consume(queue);
  await consumer.first(1);
  assert.equal(consumer.taken[0]?.mayHaveBegun, true);
});

test('tickets that the version before queued are served, and what recovery queued then may have begun', async () => {
  const name = nextName();
  const old = new bull.Queue(`hotcell-${settings.installation}-${name}`, {
    prefix: 'tickets',
    connection: { url: settings.url },
  });
  const [run, again] = [newRunId(), newRunId()];
  const bare = { body: { version: 2 }, signature: 's' };
  await old.add('run', bare, { jobId: run, priority: 5 });
  await old.add('again', bare, { jobId: again, priority: 15 });
  await old.close();
  const queue = queues.of(name);
  const fresh = await add(queue);
  assert.deepEqual(await queue.missing([run, again]), []);
  await using consumer = consume(queue);
  assert.deepEqual((await consumer.first(3)).toSorted(), [run, again, fresh].toSorted());
  const taken = consumer.taken.filter(({ id }) => id !== fresh);
  assert.deepEqual(taken, [
    { id: run, ticket: bare, mayHaveBegun: false },
    { id: again, ticket: bare, mayHaveBegun: true },
  ]);
});

test('what lies in the queue and is no envelope of ours is handed on as a ticket, which a worker refuses', async () => {
  const name = nextName();
  const foreign = new bull.Queue(`hotcell-${settings.installation}-${name}`, {
    prefix: 'tickets',
    connection: { url: settings.url },
  });
  const envelope = { version: 1, ticket: 't', tenant: 'a', priority: 99, recovered: false };
  await foreign.add('ticket', envelope, { jobId: 'x', priority: 7 });
  await foreign.close();
  await using consumer = consume(queues.of(name));
  await consumer.first(1);
  assert.deepEqual(consumer.taken, [{ id: 'x', ticket: envelope, mayHaveBegun: false }]);
});

test('a consumer whose lock is gone is told so', async () => {
  const name = nextName();
  const queue = queues.of(name);
  const run = await add(queue);
  const release = Promise.withResolvers<Served>();
  await using consumer = consume(queue, () => release.promise);
  await consumer.first(1);
  const redis = new Redis(settings.url);
  assert.equal(await redis.del(`tickets:hotcell-${settings.installation}-${name}:${run}:lock`), 1);
  redis.disconnect();
  await until('it is told', async () => consumer.lostLocks.length > 0);
  assert.equal(consumer.lostLocks[0], run);
  release.resolve({ kind: 'back' });
});

test('the ticket of a consumer that was killed is served by another', async () => {
  const queue = queues.of('kept');
  const run = await add(queue);
  const env = { QUEUE_URL: settings.url, QUEUE_INSTALLATION: settings.installation };
  await using victim = spawnNode('test/queue/hold-ticket.ts', env);
  await victim.saying(`holding ${run}`);
  victim.kill('SIGKILL');
  await victim.ended;
  await using consumer = consume(queue);
  assert.deepEqual(await consumer.first(1), [run]);
  assert.equal(consumer.taken[0]?.mayHaveBegun, true);
});

test('a consumer holds as many tickets as it may, and after hold() no more than that', async () => {
  const queue = newQueue();
  for (let i = 0; i < 6; i++) await add(queue);
  const held: PromiseWithResolvers<Served>[] = [];
  await using consumer = consume(
    queue,
    () => {
      const ticket = Promise.withResolvers<Served>();
      held.push(ticket);
      return ticket.promise;
    },
    3,
  );
  await consumer.first(3);
  consumer.pull.hold(1);
  for (let served = 0; served < 6; served++) {
    await until('the next is taken', async () => held.length > served);
    // From the third on, one is held at a time.
    if (served >= 2) assert.equal(held.length, Math.max(3, served + 1));
    held[served]?.resolve({ kind: 'done' });
    await until('it is acknowledged', async () => consumer.acked.length === served + 1);
  }
});

test('a consumer that stops takes no more, and keeps what it holds', async () => {
  const queue = newQueue();
  const [held, left] = [await add(queue), await add(queue)];
  const release = Promise.withResolvers<Served>();
  await using consumer = consume(queue, () => release.promise);
  await consumer.first(1);
  await consumer.pull.stop();
  release.resolve({ kind: 'done' });
  await consumer.pull.idle();
  await until('the first has left', async () => (await queue.missing([held, left])).length === 1);
  assert.deepEqual(await placeOf(queue, left), { at: 'waiting', before: 0 });
});

test('a queue that does not answer says so, and what to check', async () => {
  await using nowhere = new Queues({ ...settings, url: 'redis://127.0.0.1:1' });
  await assert.rejects(nowhere.of('q').depth(), { code: 'queue_unavailable', message: /Check \.\/hotcell status/ });
});
