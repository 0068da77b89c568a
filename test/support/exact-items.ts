import assert from 'node:assert/strict';
import { itemRunId } from '@hotcell/contract/batch-items.ts';
import type { ItemEnd } from '@hotcell/contract/batch.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { endsOfBatch } from '@hotcell/producer/batches/batch-manifest.ts';
import { openBatches, readBatch } from '@hotcell/record/batch-records.ts';
import { runsOf } from '@hotcell/record/recorded-runs.ts';
import type { House } from './house.ts';
import { until } from './until.ts';

/**
 * The set of runs is exactly the expected one: each item of batches that have ended has the run that follows from it,
 * or none if it was skipped, and the tenant has no other runs.
 */
export async function exactItems({ store, tenant }: House, batches: readonly RunId[]): Promise<ItemEnd[][]> {
  const all: ItemEnd[][] = [];
  for (const batch of batches) {
    const head = await until(`${batch} has ended`, async () => {
      const found = (await readBatch(store, { tenant, batch }))?.value;
      return found?.rounds.at(-1)?.ended && found;
    });
    const round = head.rounds.length - 1;
    const ends = (await Array.fromAsync(endsOfBatch(store, { tenant, batch, round }, head.items ?? 0))).flat();
    assert.deepEqual(
      ends.map(({ item }) => item),
      Array.from({ length: head.items ?? 0 }).map((_, item) => item),
    );
    for (const end of ends) if (end.run !== null) assert.equal(end.run, itemRunId(head, end.round, end.item));
    all.push(ends);
  }
  await until(
    'no batch is marked as open',
    async () => (await Array.fromAsync(openBatches(store, tenant))).length === 0,
  );
  const given = all.flat().flatMap(({ run }) => run ?? []);
  const runs = (await Array.fromAsync(runsOf(store, tenant))).map(({ run }) => run);
  assert.deepEqual(runs.toSorted(), given.toSorted());
  return all;
}
