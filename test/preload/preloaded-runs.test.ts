import assert from 'node:assert/strict';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { payloadOf } from '@hotcell/contract/evidence/dsse.ts';
import { tryBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { hexOf } from '@hotcell/contract/digest.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { preloadsHere } from '@hotcell/policies/installation-here.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { resultOf } from '../support/promise.ts';
import { pinPolicy, type RealRuns, spawnWorker } from '../support/real-worker.ts';
import { until } from '../support/until.ts';
import { verdictsOf } from '../support/verified.ts';

/** Runs under a policy that names a preload, from the queue to the record. */
let bed: Bed;
let house: House;
let real: RealRuns;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  const folder = await bed.folder('policies');
  await copyFile(join(import.meta.dirname, '../../policies/sealed.yaml'), join(folder, 'sealed.yaml'));
  await writeFile(join(folder, 'loading.yaml'), 'extends: sealed\npreload: pandas\n');
  real = await pinPolicy(bed, house, 'loading', folder);
});
after(async () => {
  await house?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const code = 'import pandas\nprint(pandas.Series([1, 2]).sum())';

async function ran(more: Partial<Spec> = {}): Promise<Result> {
  const spec = { ...real.spec, blocks: [{ language: 'python', code }], ...more };
  const { run } = await house.submit('', { spec, queue: real.queue });
  const result = await resultOf(house, run);
  assert.equal(result.outcome, 'succeeded', result.reason);
  return result;
}

const oneWaits = () =>
  until('a cell waits', async () =>
    (await house.producer.live.workers.all()).some(({ cells }) => cells.some(({ state }) => state === 'waiting')),
  );

test('a run says in which preload it began, or why in none, and its evidence binds the preload', async () => {
  await using _worker = await spawnWorker(bed, house, 'loading', { HOTCELL_WAITING_CELLS: '1' });
  const first = await ran();
  assert.deepEqual([first.timings.warm, first.timings.preload, first.timings.fresh], [false, undefined, 'cold']);
  await oneWaits();
  const second = await ran();
  assert.deepEqual([second.timings.warm, second.timings.preload, second.timings.fresh], [true, 'pandas', undefined]);
  const other = await ran({ env: { TZ: 'UTC' } });
  assert.deepEqual([other.timings.preload, other.timings.fresh], [undefined, 'variables']);

  const bundle = await house.store.getBytes(house.store.record, second.evidence?.bundle ?? '');
  const read = tryBundle(bundle?.toString('utf8') ?? '');
  assert.ok('bundle' in read);
  const digest = preloadsHere()['pandas'];
  assert.ok(digest);
  assert.ok(payloadOf(read.bundle.dsseEnvelope).toString('utf8').includes(hexOf(digest)));
  const verdicts = await verdictsOf(house);
  for (const { run } of [first, second, other]) assert.deepEqual(verdicts.get(run)?.findings, []);
});
