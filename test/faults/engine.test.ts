import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import { must } from '@hotcell/setup/command.ts';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { openOwnEngine } from '../support/own-engine.ts';
import { resultOf, running, settled } from '../support/promise.ts';
import { holds, pinSmallest, type RealRuns, smallest, spawnWorker } from '../support/real-worker.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';

let bed: Bed;

before(async () => {
  bed = await openBed();
});
after(async () => {
  await bed[Symbol.asyncDispose]();
});

const say = ['echo', 'hello'];

async function submit(house: House, real: RealRuns, argv: readonly string[]): Promise<string> {
  return (await house.submit('', smallest(real, argv))).run;
}

interface Hurt {
  house: House;
  real: RealRuns;
  /** Swallows the first `count` requests whose request line matches. Resolves at the first of them. */
  swallow: (line: RegExp, count: number) => Promise<void>;
  proxy: Awaited<ReturnType<typeof openTcpProxy>>;
}

/** A worker behind a proxy to the engine. Afterwards nothing of it may be left in the engine or on the disk. */
async function behindProxy(work: (hurt: Hurt) => Promise<string[]>): Promise<void> {
  await using house = await openHouse(bed);
  const real = await pinSmallest(bed, house);
  const socket = join(await bed.shortFolder(), 's');
  await using proxy = await openTcpProxy({ path: engineSocket }, socket);
  const stateDir = await bed.folder('worker');
  const env = { HOTCELL_DOCKER_HOST: `unix://${socket}`, HOTCELL_STATE_DIR: stateDir };
  await using worker = await spawnWorker(bed, house, 'one', env);
  const swallow: Hurt['swallow'] = (line, count) => {
    let left = count;
    const { promise, resolve } = Promise.withResolvers<void>();
    proxy.swallows = (asked) => {
      if (!line.test(asked) || left-- <= 0) return false;
      resolve();
      return true;
    };
    return promise;
  };
  const runs = await work({ house, real, swallow, proxy });
  await settled(house, runs);
  const left = async () => [
    ...(await cellsOf(house)),
    ...(await readdir(join(stateDir, 'cells'))),
    ...(await readdir(join(stateDir, 'cache', 'runs'))),
  ];
  await until('nothing of a cell is left', async (note) => note(await left()).length === 0);
  await worker.stop();
}

/** Asks the engine itself, not through the proxy. */
async function cellsOf({ id }: House): Promise<string[]> {
  const filters = ['--filter', `label=hotcell.installation=${id}`];
  return (await must(['docker', 'ps', '--all', ...filters, '--format', '{{.Names}}'])).split('\n').filter(Boolean);
}

const path = '\\/(v[0-9.]+\\/)?containers\\/';

// All at once: each only waits for a time-out.
describe('an engine', { concurrency: 7 }, () => {
  for (const [what, line] of [
    ['that hangs while it makes a cell', new RegExp(`^POST ${path}create\\?name=hotcell-cell`)],
    ['that hangs while a cell is attached to', new RegExp(`^POST ${path}[^/]+\\/attach`)],
    ['that hangs while it starts a cell', new RegExp(`^POST ${path}[^/]+\\/start`)],
    ['that hangs while a new cell is inspected', new RegExp(`^GET ${path}[0-9a-f]{64}\\/json`)],
  ] as const)
    test(`${what} costs the run one attempt`, () =>
      behindProxy(async ({ house, real, swallow }) => {
        void swallow(line, 1);
        const run = await submit(house, real, say);
        const result = await resultOf(house, run);
        assert.equal(result.outcome, 'succeeded', result.reason);
        assert.deepEqual(
          result.attempts.map(({ error }) => error?.code),
          ['engine_unavailable', undefined],
        );
        return [run];
      }));

  test('that hangs while it is asked for a cell’s end costs the run nothing', () =>
    behindProxy(async ({ house, real, swallow }) => {
      void swallow(new RegExp(`^POST ${path}[^/]+\\/wait`), Number.POSITIVE_INFINITY);
      const runs = [await submit(house, real, say), await submit(house, real, ['exit', '3'])];
      const results = await Promise.all(runs.map((run) => resultOf(house, run)));
      assert.deepEqual(
        results.map(({ outcome, attempts }) => [outcome, attempts.length]),
        [
          ['succeeded', 1],
          ['failed', 1],
        ],
      );
      return runs;
    }));

  test('that hangs while a cell is started does not keep its run from being cancelled', () =>
    behindProxy(async ({ house, real, swallow }) => {
      const hangs = swallow(new RegExp(`^POST ${path}[^/]+\\/start`), 1);
      const run = await submit(house, real, holds);
      await hangs;
      await cancelRun(house.producer, { tenant: house.tenant, run, by: 'anna', reason: 'enough' });
      const result = await resultOf(house, run);
      assert.equal(result.reason, 'Cancelled by anna: enough');
      return [run];
    }));

  test('that is killed and restarted costs running runs one attempt and waiting runs nothing', async () => {
    await using own = await openOwnEngine(bed, bed.images.minimal.digest);
    await using house = await openHouse(bed);
    const real = await pinSmallest(bed, house);
    await using worker = await spawnWorker(bed, house, 'one', { HOTCELL_DOCKER_HOST: `unix://${own.socket}` });
    const held = await submit(house, real, holds);
    await running(house, held, 1);
    await own.crash();
    const meanwhile = await submit(house, real, say);
    await until('the run that waits says for what', async (note) => {
      const [beat] = note(await house.producer.live.statusesOf([meanwhile]));
      return beat?.waiting?.code === 'engine_unavailable';
    });
    await own.start();
    await running(house, held, 2);
    await cancelRun(house.producer, { tenant: house.tenant, run: held, by: 'anna', reason: 'enough' });
    const result = await resultOf(house, held);
    assert.equal(result.reason, 'Cancelled by anna: enough');
    assert.equal(result.attempts.length, 2);
    const waited = await resultOf(house, meanwhile);
    assert.deepEqual([waited.outcome, waited.attempts.length], ['succeeded', 1], waited.reason);
    await settled(house, [held, meanwhile]);
    await until('no cell is left', async (note) => note(await own.engine.list(['hotcell.managed=1'])).length === 0);
    await worker.stop();
  });
});
