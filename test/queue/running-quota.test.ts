import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { Live } from '@hotcell/outside/live/live.ts';
import type { Queue, Served } from '@hotcell/outside/queue/queue.ts';
import { Queues } from '@hotcell/outside/queue/queues.ts';
import { goesAs } from '@hotcell/outside/queue/arrange.ts';
import { arrangeKeys, nameOf, prefix } from '@hotcell/outside/queue/queue-names.ts';
import { runScript } from '@hotcell/outside/queue/queue-scripts.ts';
import * as bull from 'bullmq';
import { Redis } from 'ioredis';
import { type Bed, openBed } from '../support/bed.ts';
import { forget } from '../support/house.ts';
import { until } from '../support/until.ts';
import { consume } from './consumer.ts';
import { allSmallAfter } from './fair-order.ts';

let bed: Bed;
let queues: Queues;
let live: Live;
let settings: { url: string; installation: string };
let made = 0;

before(async () => {
  bed = await openBed();
  settings = { url: bed.installation.redisUrl, installation: bed.id() };
  queues = new Queues(settings);
  live = await Live.open(settings);
});
after(async () => {
  await queues[Symbol.asyncDispose]();
  await live[Symbol.asyncDispose]();
  await forget(settings.url, settings.installation);
  await bed[Symbol.asyncDispose]();
});

const nextName = () => `q${made++}`;
const allow = (quotas: Record<string, number>) =>
  live.tenants.allow(
    new Map(Object.entries(quotas).map(([tenant, runs]) => [tenant, { runs, cpus: Number.POSITIVE_INFINITY }])),
  );
const add = (queue: Queue, tenant: string, count: number) =>
  inLanes(64, Array(count).keys(), (i) => queue.enqueue(null, { run: `${tenant}-${i}`, tenant, priority: 5 }));

/** Tickets that are held until they are let go of, with the most of each tenant at once. */
function holding() {
  const held = new Map<string, PromiseWithResolvers<Served>>();
  const most = new Map<string, number>();
  const of = (tenant: string) => [...held.keys()].filter((id) => id.startsWith(`${tenant}-`));
  return {
    of,
    most,
    serve: async ({ id }: { id: string }) => {
      const ticket = Promise.withResolvers<Served>();
      held.set(id, ticket);
      const tenant = id.split('-')[0] ?? '';
      most.set(tenant, Math.max(most.get(tenant) ?? 0, of(tenant).length));
      return await ticket.promise;
    },
    end: (id: string) => {
      held.get(id)?.resolve({ kind: 'done' });
      held.delete(id);
    },
    /** Before its consumers, which wait for all that they hold. */
    [Symbol.dispose]: () => {
      for (const ticket of held.values()) ticket.resolve({ kind: 'done' });
    },
  };
}

test('a tenant at its quota is passed over and holds up no other, and goes on when one of its runs ends', async () => {
  const queue = queues.of(nextName());
  await allow({ big: 2 });
  await add(queue, 'big', 40);
  await add(queue, 'small', 3);
  const tickets = holding();
  const { serve, of, most, end } = tickets;
  await using one = consume(queue, serve, 4);
  await using two = consume(queue, serve, 4);
  using _tickets = tickets;
  await until('the small tenant has all of its own', async () => of('small').length === 3);
  await until('the big one has its two', async () => of('big').length === 2);
  await until('the others are held', async () => (await queue.places(['big-39']))[0]?.at === 'held');
  await until('the queue has the others', async () => (await queue.depth()) === 38);
  for (let left = 40; left > 0; left--) {
    await until('one is held', async () => of('big').length > 0);
    end(of('big')[0] ?? '');
  }
  for (const id of of('small')) end(id);
  assert.equal(most.get('big'), 2, 'never more than its quota at once');
  await until('all are gone', async () => (await queue.depth()) === 0);
  assert.equal(one.taken.length + two.taken.length, 43, 'none was taken twice');
  assert.ok([...one.taken, ...two.taken].every(({ mayHaveBegun }) => !mayHaveBegun));
});

test('the CPUs of a tenant’s running runs stay within its quota, in the order of its line, and other tenants pass it', async () => {
  const queue = queues.of(nextName());
  await live.tenants.allow(new Map([['wide', { runs: 100, cpus: 4 }]]));
  const sizes: Record<string, number> = { 'wide-0': 1.5, 'wide-1': 2.5, 'wide-2': 3, 'wide-3': 1, 'wide-4': 9 };
  for (const [run, cpus] of Object.entries(sizes))
    await queue.enqueue(null, { run, tenant: 'wide', priority: 5, cpus });
  await add(queue, 'small', 2);
  const tickets = holding();
  const { serve, of, end } = tickets;
  await using _one = consume(queue, serve, 4);
  await using _two = consume(queue, serve, 4);
  using _tickets = tickets;
  const running = (...wide: string[]) =>
    until(`${wide.join(' and ')} are running`, async (note) => note(of('wide')).toSorted().join() === wide.join());
  await until('the small tenant has its own', async () => of('small').length === 2);
  await running('wide-0', 'wide-1');
  assert.equal((await live.tenants.use('wide')).cpus, 4);
  assert.equal((await queue.places(['wide-3']))[0]?.at, 'held');
  end('wide-0');
  // The third does not fit yet, and the fourth, which would, does not pass it.
  await until('its CPUs are given back', async () => (await live.tenants.use('wide')).cpus === 2.5);
  assert.deepEqual(of('wide'), ['wide-1']);
  end('wide-1');
  await running('wide-2', 'wide-3');
  for (const id of of('wide')) end(id);
  // It has more than the quota, which was higher when it was accepted: it runs alone.
  await running('wide-4');
  end('wide-4');
  for (const id of of('small')) end(id);
});

test('the quota is one for all queues, and a higher one is seen by tickets that wait already', async () => {
  const [a, b] = [queues.of(nextName()), queues.of(nextName())];
  await allow({ '*': 1 });
  const tickets = holding();
  const { serve, of, end } = tickets;
  await using _a = consume(a, serve, 4);
  await using _b = consume(b, serve, 4);
  using _tickets = tickets;
  await add(a, 'x', 1);
  await until('the first is taken', async () => of('x').length === 1);
  await b.enqueue(null, { run: 'x-more', tenant: 'x', priority: 5 });
  await until('the other queue holds it', async () => (await b.places(['x-more']))[0]?.at === 'held');
  await allow({ '*': 2 });
  await until('the other queue gives it out', async () => of('x').length === 2);
  for (const id of of('x')) end(id);
});

test('a ticket that was taken from a Valkey that is gone leaves nothing that passes for a ticket', async () => {
  const name = nextName();
  const connection = { url: settings.url };
  const bare = new bull.Queue(nameOf(settings, name), { prefix, connection });
  assert.equal(
    await runScript(bare, 'hotcellArrange', arrangeKeys(settings, name), 'taken', 'pull', 'lost', 't', '2', 'lock'),
    goesAs.lost,
  );
  await bare.close();
  assert.deepEqual(await queues.of(name).missing(['lost']), ['lost']);
});

test('a run that was queued again keeps its place, whatever its earlier attempt says when it leaves', async () => {
  const name = nextName();
  await allow({ t: 1 });
  const redis = new Redis(settings.url);
  const running = `hotcell:${settings.installation}:running:t`;
  await redis.zadd(running, Date.now() + 600_000, 'another');
  const queue = queues.of(name);
  await queue.enqueue(null, { run: 'again', tenant: 't', priority: 5 });
  await until('it stands in its line alone', async () => (await queue.places(['again']))[0]?.at === 'held');
  const bare = new bull.Queue(nameOf(settings, name), { prefix, connection: { url: settings.url } });
  const say = async (...words: string[]) =>
    await runScript(bare, 'hotcellArrange', arrangeKeys(settings, name), ...words);
  await say('left', 'pull', 'again', 't');
  // A call that was made before an outage, and arrives after it.
  await say('taken', 'pull', 'again', 't', '2', 'a lock that is over');
  await say('left', 'pull', 'again', 't');
  await bare.close();
  await redis.zrem(running, 'another');
  redis.disconnect();
  await using consumer = consume(queue);
  assert.deepEqual(await consumer.first(1), ['again']);
});

test('a run whose worker is dead counts no more', async () => {
  const name = nextName();
  await allow({ gone: 1 });
  const redis = new Redis(settings.url);
  await redis.zadd(`hotcell:${settings.installation}:running:gone`, Date.now() - 1, 'of-a-dead-worker');
  redis.disconnect();
  const queue = queues.of(name);
  await add(queue, 'gone', 1);
  await using consumer = consume(queue);
  assert.deepEqual(await consumer.first(1), ['gone-0']);
});

test('a tenant that floods the queue costs a light one at most one run', async () => {
  const queue = queues.of(nextName());
  await allow({ '*': 1_000 });
  await add(queue, 'flood', 3_000);
  const order: string[] = [];
  let asked = 0;
  await using consumer = consume(queue, async ({ id }) => {
    order.push(id);
    // The light tenant asks again whenever it has its answer: each of its runs comes into a queue that is full.
    if (order.length === 1 || id.startsWith('small')) {
      const run = `small-${asked++}`;
      if (asked <= 20) await queue.enqueue(null, { run, tenant: 'small', priority: 5 });
    }
    return { kind: 'done' };
  });
  await consumer.first(60);
  assert.ok(allSmallAfter(order.slice(0, 60)) <= 41, order.slice(0, 60).join(' '));
  await consumer.pull.stop();
});

test('a producer whose clock is wrong counts runs as open no shorter and no longer than others do', async ({
  mock,
}) => {
  const hour = 3_600_000;
  for (const [tenant, wrong] of Object.entries({ behind: -hour, ahead: hour })) {
    const now = Date.now.bind(Date);
    const clock = mock.method(Date, 'now', () => now() + wrong);
    await live.tenants.saw(new Map([[newRunId(), tenant]]));
    clock.mock.restore();
    assert.equal((await live.tenants.use(tenant)).waiting, 1);
    const redis = new Redis(settings.url);
    const [, seen] = await redis.zrange(`hotcell:${settings.installation}:open:${tenant}`, '0', '-1', 'WITHSCORES');
    redis.disconnect();
    assert.ok(Math.abs(Number(seen) - Date.now()) < hour / 2, `${tenant}: seen at ${seen}`);
  }
});

test('producers together let no more runs wait than a quota says, and recovery counts them again', async () => {
  await using other = await Live.open(settings);
  const runs = Array.from({ length: 30 }, () => newRunId());
  const answers = await Promise.all(
    runs.map((run, i) => (i % 2 ? live : other).tenants.open('w', run, 10).then(({ counted }) => ({ run, counted }))),
  );
  const open = answers.filter(({ counted }) => counted).map(({ run }) => run);
  assert.equal(open.length, 10);
  assert.equal((await live.tenants.use('w')).waiting, 10);
  const [ended, ...rest] = open;
  assert.ok(ended);
  const at = new Date().toISOString();
  await live.finished({ type: 'status', run: ended, tenant: 'w', status: 'finished', outcome: 'succeeded', at });
  assert.equal((await live.tenants.use('w')).waiting, 9);
  await forget(settings.url, settings.installation);
  assert.equal((await live.tenants.use('w')).waiting, 0);
  await live.tenants.saw(new Map(rest.map((run) => [run, 'w'])));
  assert.equal((await live.tenants.use('w')).waiting, 9);
  assert.equal((await live.tenants.open('w', rest[0] ?? newRunId(), 5)).counted, true, 'it counts already');
  assert.equal((await live.tenants.open('w', newRunId(), 9)).counted, false);
});
