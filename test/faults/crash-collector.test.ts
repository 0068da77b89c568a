import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import type { SweepMark } from '@hotcell/record/schemas.ts';
import { publishName } from '@hotcell/record/snapshot-name.ts';
import { collectGarbage } from '@hotcell/record/gc/collect-garbage.ts';
import { verifySnapshot } from '@hotcell/producer/snapshots/verify-snapshot.ts';
import { age } from '../support/aged.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { spawnNode } from '../support/child.ts';
import { contentsAs, freezeTree } from '../support/freezing.ts';
import { openHouse } from '../support/house.ts';
import { keysOf } from '../support/promise.ts';
import { crashAt, fallen, atEach } from './falling.ts';
import { points } from './points.ts';

/** gc.test.ts kills collectors. Here one sleeps, and wakes when another has done its work. */
async function collectorSleeps(bed: Bed, point: string): Promise<void> {
  await using house = await openHouse(bed);
  const { store, tenant } = house;
  const kept = await freezeTree(house, tenant, { a: 'kept', shared: 'in both' });
  await publishName(store, tenant, 'kept', kept.snapshot, 'a test');
  const doomed = { b: 'garbage', shared: 'in both' };
  await freezeTree(house, tenant, doomed);
  for (const prefix of [`cas/${tenant}`, `snapshots/${tenant}`]) await age(bed, store.record, prefix);
  await using sleeper = spawnNode('test/faults/victims/collect.ts', {
    STORE: JSON.stringify({ ...bed.installation.store, record: store.record, work: store.work }),
    ...crashAt(point, 'stop'),
  });
  await fallen(sleeper, point, 'stop');
  const past: SweepMark = { version: 1, at: '2020-01-01T00:00:00.000Z', until: '2020-01-01T00:10:00.000Z' };
  await store.put(store.work, workKeys.sweeping, JSON.stringify(past));
  await collectGarbage(store, { dryRun: false, wait: () => Promise.resolve() });
  // The garbage is needed again. It is new now, and the sleeper must not touch it.
  const again = await freezeTree(house, tenant, doomed);
  await publishName(store, tenant, 'again', again.snapshot, 'a test');
  sleeper.kill('SIGCONT');
  await sleeper.ended;
  await using contents = await contentsAs(house, 'producer');
  for (const { snapshot } of [kept, again])
    assert.deepEqual((await verifySnapshot({ store, contents }, tenant, snapshot)).problems, []);
  const left = await keysOf(store, store.record, `cas/${tenant}/`);
  assert.deepEqual(left, ['kept', 'in both', 'garbage'].map((text) => recordKeys.cas(tenant, sha256(text))).toSorted());
}

test('a collector that sleeps at any step and wakes removes nothing that is in use', async () => {
  await using bed = await openBed();
  await atEach(3, points.collector, (point) => collectorSleeps(bed, point));
});
