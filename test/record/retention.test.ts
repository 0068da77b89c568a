import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, afterEach, describe, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { dayMs } from '@hotcell/contract/day-length.ts';
import { RunId } from '@hotcell/contract/names.ts';
import type { Retention } from '@hotcell/contract/retention.ts';
import { committedAttempt } from '@hotcell/contract/result.ts';
import { StoreAdmin } from '@hotcell/outside/store/store-admin.ts';
import type { PutOptions } from '@hotcell/outside/store/store-put.ts';
import { accept } from '@hotcell/producer/accept.ts';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { collectGarbage } from '@hotcell/record/gc/collect-garbage.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { snapshotRecord } from '@hotcell/record/snapshot-store.ts';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import { echoQueue } from '../support/echo.ts';
import { type House, openHouse } from '../support/house.ts';
import { startProducer } from '../support/producer.ts';
import { keysOf, resultOf, settled } from '../support/promise.ts';
import { specFor } from '../support/spec.ts';

let bed: Bed;
let house: House;
before(async () => {
  bed = await openBed();
});
beforeEach(async () => {
  house = await openHouse(bed);
});
afterEach(() => house[Symbol.asyncDispose]());
after(() => bed[Symbol.asyncDispose]());

const lockOn = (key: string) => house.store.lockOn(house.store.record, key);

/** The keys of everything that a run left in the record. */
async function leftBy(code: string, retention?: Retention) {
  const spec = retention ? { retention } : {};
  const { run } = await house.submit(code, { spec });
  await using _worker = await house.worker('one');
  const result = await resultOf(house, run);
  await settled(house, [run]);
  const { store, tenant } = house;
  const snapshot = result.outputs.snapshot ?? assert.fail(result.reason);
  const record = await snapshotRecord(store, tenant, sha256Of(snapshot));
  const log = recordKeys.log(tenant, run, committedAttempt(result) ?? assert.fail('no attempt was committed'));
  return [
    recordKeys.spec(tenant, run),
    recordKeys.result(tenant, run),
    log,
    recordKeys.manifest(tenant, sha256Of(snapshot)),
    recordKeys.locations(tenant, record?.locations ?? assert.fail('there is no record')),
    ...result.outputs.files.map((file) => recordKeys.cas(tenant, file.sha256)),
  ];
}
const sha256Of = (id: string) => id as `sha256:${string}`;

/** Removes every version as the operator can, and answers what the store kept. */
async function keptAfterRemoval(keys: readonly string[]): Promise<string[]> {
  const { store } = house;
  const versions = (
    await Promise.all(keys.map((key) => Array.fromAsync(store.listVersions(store.record, key))))
  ).flat();
  return (await store.deleteVersions(store.record, versions)).map(({ key }) => key);
}

/** A small output is put with its digest, a large one in parts and then copied. */
const outputs = `print hello\noutput small\nbig ${9 * 2 ** 20}`;

for (const mode of ['governance', 'compliance'] as const)
  test(`under ${mode} retention all that a run leaves is locked, and the operator can remove none of it`, async () => {
    const began = Date.now();
    const keys = await leftBy(outputs, { mode, days: 2 });
    assert.equal(keys.length, 7);
    for (const key of keys) {
      const lock = await lockOn(key);
      assert.equal(lock?.mode, mode.toUpperCase(), key);
      assert.ok(
        lock.until.getTime() >= began + 2 * dayMs && lock.until.getTime() <= Date.now() + 2 * dayMs + 3_000,
        key,
      );
    }
    assert.deepEqual((await keptAfterRemoval(keys)).toSorted(), keys.toSorted());
    for (const key of keys) assert.ok(await house.store.head(house.store.record, key), key);
  });

test('a run that is asked for over HTTP is kept as its policy says', async () => {
  const policies = await bed.folder('policies');
  await writeFile(join(policies, 'kept.yaml'), 'retention: { mode: governance, days: 3 }\n');
  await using producer = await startProducer(bed, house, { HOTCELL_POLICIES: policies });
  const blocks = [{ language: 'python', code: 'print(1)' }];
  const answer = await producer.ask('POST', '/v1/runs', { body: JSON.stringify({ policy: 'kept', blocks }) });
  assert.equal(answer.status, 202, await answer.clone().text());
  const { run } = z.looseObject({ run: RunId }).parse(await answer.json());
  const found = await findSpec(house.store, house.tenant, run);
  assert.deepEqual(found?.spec.retention, { mode: 'governance', days: 3 });
  assert.equal((await lockOn(recordKeys.spec(house.tenant, run)))?.mode, 'GOVERNANCE');
  const asked = { tenant: house.tenant, run, by: 'anna', reason: 'a test' };
  assert.equal(await cancelRun(house.producer, asked), 'cancelled');
});

test('without a retention nothing is locked, and the operator can remove it', async () => {
  const keys = await leftBy(outputs);
  for (const key of keys) assert.equal(await lockOn(key), undefined, key);
  assert.deepEqual(await keptAfterRemoval(keys), []);
});

test('an output that was there without a lock, or with a shorter one, is locked for as long as the later run asks', async () => {
  await leftBy(outputs);
  const short = await leftBy(outputs, { mode: 'governance', days: 1 });
  const long = await leftBy(outputs, { mode: 'governance', days: 3 });
  await leftBy(outputs, { mode: 'governance', days: 2 });
  const shared = long.filter((key) => short.includes(key));
  assert.equal(shared.length, 4);
  const stricter = async (mode: string, days: number) => {
    for (const key of shared) {
      const lock = await lockOn(key);
      assert.equal(lock?.mode, mode, key);
      assert.ok(lock.until.getTime() > Date.now() + (days - 0.1) * dayMs, key);
    }
  };
  await stricter('GOVERNANCE', 3);
  for (const key of shared) {
    const versions = await Array.fromAsync(house.store.listVersions(house.store.record, key));
    assert.equal(versions.length, 1, `${key} is stored once`);
  }
  await leftBy(outputs, { mode: 'compliance', days: 1 });
  await stricter('COMPLIANCE', 1);
  await leftBy(outputs, { mode: 'compliance', days: 4 });
  await stricter('COMPLIANCE', 4);
});

test('the result of a run that was cancelled before it began is locked too', async () => {
  const { run } = await house.submit('print hello', { spec: { retention: { mode: 'governance', days: 1 } } });
  const asked = { tenant: house.tenant, run, by: 'anna', reason: 'a test' };
  assert.equal(await cancelRun(house.producer, asked), 'cancelled');
  assert.equal((await lockOn(recordKeys.result(house.tenant, run)))?.mode, 'GOVERNANCE');
});

test('the record of an attempt that failed is locked too', async () => {
  const retention = { mode: 'governance', days: 1 } as const;
  const { run } = await house.submit('exit 3', { spec: { retention, retry: { on: ['failed'], max: 1 } } });
  await using _worker = await house.worker('one');
  const { attempts } = await resultOf(house, run);
  const [first] = attempts;
  assert.ok(first);
  assert.equal((await lockOn(recordKeys.attemptRecord(house.tenant, run, first)))?.mode, 'GOVERNANCE');
});

test('a body in parts is locked as it is completed', async () => {
  const { store } = house;
  async function* parts() {
    for (let i = 0; i < 3; i++) yield randomBytes(5 * 2 ** 20);
  }
  const lock = { mode: 'GOVERNANCE', until: new Date(Date.now() + dayMs) } as const;
  await store.upload(store.record, 'runs/large', parts(), { ifAbsent: true, lock });
  assert.equal((await lockOn('runs/large'))?.mode, 'GOVERNANCE');
});

test('the collector says how much is locked, and goes on with the rest', async () => {
  const { store, tenant } = house;
  const lock = { mode: 'GOVERNANCE', until: new Date(Date.now() + dayMs) } as const;
  const [locked, loose] = ['locked', 'loose'].map((text) => recordKeys.cas(tenant, sha256(text)));
  assert.ok(locked && loose);
  await store.put(store.record, locked, 'locked', { lock });
  await store.put(store.record, loose, 'loose');
  const options = { dryRun: false, graceMs: -60_000, wait: () => Promise.resolve() };
  const [report] = await collectGarbage(store, options);
  assert.deepEqual([report?.contents, report?.protected], [2, 1]);
  assert.deepEqual(await keysOf(store, store.record, 'cas/'), [locked]);
});

/** A store that takes a lock and keeps none. */
class Forgetful extends Buckets {
  override put(bucket: string, key: string, body: Uint8Array | string, { lock: _, ...options }: PutOptions = {}) {
    return super.put(bucket, key, body, options);
  }
}

describe('a run whose policy asks for a lock is refused, and never promised,', () => {
  const refusedBy = async (store: Buckets, message: RegExp) => {
    const retention = { mode: 'governance', days: 1 } as const;
    const asked = { spec: { ...specFor(house.tenant, 'print 1'), retention }, queue: echoQueue };
    await assert.rejects(accept({ ...house.producer, store }, asked), { code: 'store_unavailable', message });
    assert.deepEqual(await keysOf(house.store, house.store.work, 'open/'), []);
  };

  test('by a bucket without Object Lock', async () => {
    const plain = `${bed.id()}-plain`;
    using admin = new StoreAdmin(bed.installation.store);
    await admin.createBucket(plain, { locked: false });
    using store = new Buckets({ ...bed.installation.store, record: plain, work: house.store.work });
    await refusedBy(store, /has no Object Lock.*take the retention out of the policy/);
  });

  test('by a store that takes a lock and keeps none', async () => {
    using store = new Forgetful({ ...bed.installation.store, record: house.store.record, work: house.store.work });
    await refusedBy(store, /did not lock the spec of run .* Use a store and a bucket with Object Lock/);
  });
});

test('no process may shorten a lock or remove what it holds', async () => {
  const keys = await leftBy(outputs, { mode: 'governance', days: 2 });
  const { store } = house.producer;
  for (const key of keys) {
    const [version] = await Array.fromAsync(house.store.listVersions(store.record, key));
    assert.ok(version);
    await assert.rejects(store.delete(store.record, key, version.versionId), { code: 'forbidden' });
    await store.extendLock(store.record, key, { mode: 'GOVERNANCE', until: new Date(Date.now() + dayMs) });
    assert.ok(((await lockOn(key))?.until.getTime() ?? 0) > Date.now() + 1.9 * dayMs);
  }
});
