import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newRunId, type RunId } from '@hotcell/contract/names.ts';
import { commit } from '@hotcell/record/commit.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { collectGarbage } from '@hotcell/record/gc/collect-garbage.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { keysOf } from '../support/promise.ts';

const bed = await openBed();
const house = await openHouse(bed);
after(async () => {
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

/** An id as it was made so many days ago. */
function runOf(daysAgo: number): RunId {
  const ms = (Date.now() - daysAgo * 86_400_000).toString(16).padStart(12, '0');
  return `${ms.slice(0, 8)}-${ms.slice(8)}${newRunId().slice(13)}`;
}

async function ended(daysAgo: number, spec: `sha256:${string}` | null): Promise<RunId> {
  const { tenant } = house;
  const run = runOf(daysAgo);
  const ending = { outcome: 'rejected', reason: 'Refused: no', errors: [] } as const;
  await commit(house.producer, emptyResult({ run, tenant, spec }, undefined, ending, new Date()));
  return run;
}

test('refusals go after 90 days; younger ones stay, and so do the results of accepted runs, however they ended', async () => {
  const { tenant, store } = house;
  const [old, older] = [await ended(91, null), await ended(400, null)];
  const kept = [await ended(89, null), await ended(0, null), await ended(400, `sha256:${'1'.repeat(64)}`)];
  const options = { wait: () => Promise.resolve() };
  const [dry] = await collectGarbage(store, { ...options, dryRun: true });
  assert.deepEqual([dry?.tenant, dry?.refusals], [tenant, 2]);
  assert.ok((dry?.bytes ?? 0) > 0);
  const [report] = await collectGarbage(store, { ...options, dryRun: false });
  assert.deepEqual(report, dry);
  const left = await keysOf(store, store.record, recordKeys.tenantRuns(tenant));
  assert.deepEqual(
    left.filter((key) => key.endsWith('/result.json')),
    kept.map((run) => recordKeys.result(tenant, run)).toSorted(),
  );
  assert.equal(left.length, 2 * kept.length, 'each with its evidence');
  for (const run of [old, older]) {
    const versions = await Array.fromAsync(store.listVersions(store.record, recordKeys.run(tenant, run)));
    assert.deepEqual(versions, [], 'no version of it is left');
  }
});
