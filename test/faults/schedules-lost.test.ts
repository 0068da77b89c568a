import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { publishName } from '@hotcell/record/snapshot-name.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { exactTicks } from '../support/exact-ticks.ts';
import { type House, openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { clockWrongBy } from '../support/load-kinds.ts';
import { settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

/** A store that fails or hides its answers, and a leader whose clock is set: the set of runs stays the expected one. */
let bed: Bed;
before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

const run = { blocks: [{ language: 'bash', code: 'print x' }] };
const workOf = (house: House) => house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });

describe('schedules', { concurrency: 2 }, () => {
  test('each tick and each version has exactly one run, although the store fails and loses answers', async () => {
    await using proxy = await openHttpProxy(bed.installation.store.endpoint);
    await using house = await openHouse(bed, { endpoint: proxy.url });
    await using producer = await startProducer(bed, house);
    await workOf(house);
    const { schedules } = await producer.client();
    await schedules.create({ name: 'seconds', trigger: { everySeconds: 1 }, overlap: 'queue', run });
    await schedules.create({ name: 'versions', trigger: { onPublish: 'sales' }, run });
    let puts = 0;
    const faults = new Set<string>();
    // Of the writes of a tick and of its run, one in three is made and not answered, and one is not made.
    proxy.fault = ({ method, path }) => {
      const part = /\/(ticks|runs|open)\//.exec(path)?.[1];
      if (method !== 'PUT' || part === undefined || puts++ % 3 === 2) return undefined;
      const fault = puts % 3 === 1 ? ({ kind: 'lose_answer' } as const) : ({ kind: 'status', status: 503 } as const);
      faults.add(`${part} ${fault.kind}`);
      return fault;
    };
    for (let version = 1; version <= 3; version++)
      await publishName(house.producer.store, house.tenant, 'sales', sha256(`${version}`), 'the test');
    await until('each kind of write was hit by each fault', async (note) => note([...faults]).length === 6);
    proxy.fault = () => undefined;
    await until('each version has its run', async (note) => {
      const { ticks } = note(await schedules.ticks('versions'));
      return ticks.filter(({ outcome }) => outcome === 'succeeded').length === 3;
    });
    for (const name of ['seconds', 'versions']) await schedules.pause(name);
    const ticks = await exactTicks(house, ['seconds', 'versions']);
    assert.equal(ticks.filter(({ name }) => name === 'versions').length, 3);
    await settle(house, producer);
  });

  test('each tick has exactly one run, although the clock of the leader is set forward and that of the next is right', async () => {
    await using house = await openHouse(bed);
    await workOf(house);
    const first = await startProducer(bed, house, clockWrongBy(90_000, true));
    const { schedules } = await first.client();
    await schedules.create({ name: 'all', trigger: { everySeconds: 1 }, missed: 'all', catchUp: 5, run });
    await schedules.create({ name: 'once', trigger: { everySeconds: 1 }, missed: 'once', run });
    const ran = (name: string, from: typeof schedules, most: number) =>
      until(`${name} has run`, async (note) => {
        const { ticks } = note(await from.ticks(name, { limit: 200 }));
        return ticks.filter(({ state }) => state === 'run').length >= most;
      });
    for (const name of ['all', 'once']) await ran(name, schedules, 2);
    first.child.kill('SIGUSR2');
    await first.child.saying('the clock is wrong');
    for (const name of ['all', 'once']) await ran(name, schedules, 5);
    await first[Symbol.asyncDispose]();
    // For its clock, what was decided lies in the future, and is not decided again.
    await using second = await startProducer(bed, house);
    const now = (await second.client()).schedules;
    const asked = await now.trigger('once');
    await until('what is asked for runs', async (note) =>
      note(await now.ticks('once', { limit: 200 })).ticks.some(({ run: id }) => id === asked.run),
    );
    for (const name of ['all', 'once']) await now.pause(name);
    await exactTicks(house, ['all', 'once']);
    await settle(house, second);
  });
});
