import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Live } from '@hotcell/outside/live/live.ts';
import type { Pulled, Queue, Served } from '@hotcell/outside/queue/queue.ts';
import { nameOf, prefix } from '@hotcell/outside/queue/queue-names.ts';
import { Queues } from '@hotcell/outside/queue/queues.ts';
import { Redis } from 'ioredis';
import { type Bed, openBed } from '../support/bed.ts';
import { forget } from '../support/house.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

let bed: Bed;
let settings: { url: string; installation: string };

before(async () => {
  bed = await openBed();
  settings = { url: bed.installation.redisUrl, installation: bed.id() };
});
after(async () => {
  await forget(settings.url, settings.installation);
  await bed[Symbol.asyncDispose]();
});

/** Takes one ticket at a time; what it loses is reported as a problem, which is what these tests are about. */
function puller(queue: Queue, serve: (id: string) => Promise<Served>, taken: string[] = []) {
  const pull = queue.pull({
    atOnce: 1,
    serve: async ({ id }: Pulled) => {
      taken.push(id);
      return await serve(id);
    },
    acked: () => undefined,
    lockLost: () => undefined,
    problem: () => undefined,
  });
  return {
    taken,
    async [Symbol.asyncDispose]() {
      await pull.stop();
      await pull.idle();
      await pull.close();
    },
  };
}

const add = (queue: Queue, run: string) => queue.enqueue(null, { run, tenant: 't', priority: 5 });

test('a worker whose turn Valkey does not confirm in time leaves the ticket to another', async () => {
  const { hostname: host, port } = new URL(settings.url);
  await using proxy = await openTcpProxy({ host, port: Number(port) });
  await using direct = new Queues(settings);
  const address = new URL(settings.url);
  address.port = String(proxy.port);
  await using beyond = new Queues({ ...settings, url: address.href });
  let swallowed = 0;
  proxy.swallows = (_line, piece) => piece.includes('$5\r\ntaken\r\n') && swallowed++ === 0;
  const queue = direct.of('unconfirmed');
  await add(queue, 'first');
  const held = Promise.withResolvers<Served>();
  await using cutOff = puller(beyond.of('unconfirmed'), async () => ({ kind: 'done' }));
  await until('its question is lost', async () => swallowed > 0);
  await using other = puller(queue, async () => await held.promise);
  await until('the other worker has the ticket', async () => other.taken.length > 0);
  // Its connection is new by then, and what it asked before was sent again.
  await add(queue, 'second');
  await until('the one that was cut off takes tickets again', async () => cutOff.taken.length > 0);
  held.resolve({ kind: 'done' });
  assert.deepEqual([cutOff.taken, other.taken], [['second'], ['first']]);
});

test('a run whose worker lost the lock counts until that worker is done, whatever another does with its ticket', async () => {
  await using queues = new Queues(settings);
  await using live = await Live.open(settings);
  await live.tenants.allow(new Map([['t', { runs: 1, cpus: 1 }]]));
  const queue = queues.of('lost');
  const goesOn = Promise.withResolvers<Served>();
  let isOver = false;
  await add(queue, 'long');
  await using first = puller(queue, async () => await goesOn.promise);
  await until('it runs', async () => first.taken.length > 0);
  await add(queue, 'next');
  const redis = new Redis(settings.url);
  const lock = `${prefix}:${nameOf(settings, 'lost')}:long:lock`;
  assert.equal(await redis.del(lock), 1);
  redis.disconnect();
  // The second worker sees that the first one goes on, and looks again a little later.
  await using second = puller(queue, async () => (isOver ? { kind: 'done' } : { kind: 'later', afterMs: 5 }));
  await until('it looked often', async () => second.taken.length >= 20);
  assert.deepEqual(new Set(second.taken), new Set(['long']));
  isOver = true;
  goesOn.resolve({ kind: 'done' });
  await until('the next one begins', async () => [...first.taken, ...second.taken].includes('next'));
});
