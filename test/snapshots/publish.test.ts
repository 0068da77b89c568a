import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { pointsTo, publishName, readName } from '@hotcell/record/snapshot-name.ts';
import { snapshotRecord } from '@hotcell/record/snapshot-store.ts';
import { openBed } from '../support/bed.ts';
import { spawnNode } from '../support/child.ts';
import { openHouse } from '../support/house.ts';
import { resultOf, settled } from '../support/promise.ts';

const bed = await openBed();
const house = await openHouse(bed);
const { store, tenant } = house;
after(async () => {
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

async function nameNow(name: string) {
  const found = await readName(store, tenant, name);
  assert.ok(found, `there is no name ${name}`);
  return { to: pointsTo(found), history: found.history };
}
const day = (n: number) => new Date(Date.UTC(2026, 0, n));
const snapshot = (n: number) => sha256(`snapshot ${n}`);

test('a name moves to the outputs of a successful run and not to those of a failed one', async () => {
  await using own = await openHouse(bed);
  await own.worker('one');
  const spec = { publish: 'clean' };
  const good = await own.submit('output first', { spec });
  const { outputs, timings } = await resultOf(own, good.run);
  const bad = await own.submit('output second\nexit 1', { spec });
  assert.equal((await resultOf(own, bad.run)).outcome, 'failed');
  await settled(own, [good.run, bad.run]);
  const found = await readName(own.store, own.tenant, 'clean');
  const move = { snapshot: outputs.snapshot, at: timings.finishedAt, by: `run ${good.run}` };
  assert.deepEqual(withoutRecorded(found?.history ?? []), [{ ...move, recorded: undefined }]);
  assert.ok(outputs.snapshot);
  assert.ok(await own.store.head(own.store.record, recordKeys.manifest(own.tenant, outputs.snapshot)));
  const record = await snapshotRecord(own.store, own.tenant, outputs.snapshot);
  assert.deepEqual([record?.source, record?.by], [`${good.run}:outputs`, `run ${good.run}`]);
});

test('a successful run without outputs moves no name, and says so', async () => {
  await using own = await openHouse(bed);
  await own.worker('one');
  const { run } = await own.submit('print done', { spec: { publish: 'clean' } });
  const { outcome, warnings } = await resultOf(own, run);
  assert.equal(outcome, 'succeeded');
  assert.deepEqual(warnings, ['Nothing was published as clean: the run wrote no files to /outputs.']);
  await settled(own, [run]);
  assert.equal(await readName(own.store, own.tenant, 'clean'), undefined);
});

test('the notary makes up for a publication that its worker died before, without moving the name back', async () => {
  await using own = await openHouse(bed);
  const spec = { publish: 'clean' };
  const late = await own.submit('output late', { spec });
  const env = await own.settings('worker', { HOTCELL_WORKER_NAME: 'victim', HOTCELL_CRASH_AT: 'commit.result:kill' });
  await using victim = spawnNode('test/faults/victims/worker.ts', env);
  assert.equal((await victim.ended).signal, 'SIGKILL', victim.said());
  const { outputs: lateOutputs, timings } = await resultOf(own, late.run);
  assert.equal(await readName(own.store, own.tenant, 'clean'), undefined);
  const newer = new Date(Date.parse(timings.finishedAt) + 1);
  await publishName(own.store, own.tenant, 'clean', snapshot(1), 'somebody else', newer);
  await own.worker('rescuer');
  await settled(own, [late.run]);
  const found = await readName(own.store, own.tenant, 'clean');
  assert.ok(found);
  assert.deepEqual(withoutRecorded(found.history), [
    { snapshot: lateOutputs.snapshot, at: timings.finishedAt, by: `run ${late.run}`, recorded: undefined },
    { snapshot: snapshot(1), at: newer.toISOString(), by: 'somebody else', recorded: undefined },
  ]);
  assert.equal(pointsTo(found), snapshot(1));
});

test('publishing the same snapshot twice counts once, whatever happens in between', async () => {
  for (const n of [1, 2, 1, 2, 1]) await publishName(store, tenant, 'twice', snapshot(n), `run ${n}`, day(n));
  const { to, history } = await nameNow('twice');
  assert.equal(to, snapshot(2));
  assert.deepEqual(
    history.map(({ by }) => by),
    ['run 1', 'run 2'],
  );
});

test('concurrent publications under one name are all in its history, and it points to the latest', async () => {
  const days = Array.from({ length: 12 }, (_, i) => i + 1);
  const shuffled = days.toSorted((a, b) => ((a * 7) % 13) - ((b * 7) % 13));
  await Promise.all(shuffled.map((n) => publishName(store, tenant, 'raced', snapshot(n), `run ${n}`, day(n))));
  const { to, history } = await nameNow('raced');
  assert.equal(to, snapshot(12));
  assert.deepEqual(
    history.map(({ by }) => by),
    days.map((n) => `run ${n}`),
  );
});

/** When the history took it in: at no two versions the same, whatever their own times are. */
function withoutRecorded(history: readonly { recorded?: string | undefined }[]): object[] {
  const times = history.map(({ recorded }) => recorded);
  assert.equal(new Set(times).size, history.length);
  return history.map((move) => ({ ...move, recorded: undefined }));
}
