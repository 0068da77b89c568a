import { inLanes } from '@hotcell/contract/lanes.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { allShards, openRuns, reachMarks } from '@hotcell/record/run-marks.ts';
import { endOf, newRows, type RowDeps } from './read-rows.ts';

const atOnce = 16;

interface Difference {
  tenant: string;
  run: RunId;
  /** It is open in the read model, and has no open marker. */
  believed: boolean;
}

/**
 * Compares the open markers with the runs that the model believes open. They differ by lost messages, runs that another
 * producer accepted, and specs that were never accepted. Both are read side by side in one order, to hold little.
 */
export async function compareShard(deps: RowDeps, shard: string): Promise<void> {
  const failures: unknown[] = [];
  const take = async (difference: Difference) => {
    try {
      await settle(deps, difference);
    } catch (error) {
      // A run that the store does not give up holds up no other; a store that is away ends the comparison.
      await reachMarks(deps.store);
      if (failures.length === 0) failures.push(error);
    }
  };
  await inLanes(atOnce, differences(deps, shard), take, deps.signal);
  if (failures.length > 0) throw failures[0];
}

async function settle(deps: RowDeps, { tenant, run, believed }: Difference): Promise<void> {
  const change = believed ? await endOf(deps, tenant, run) : undefined;
  await deps.model.write(change ? [change] : await newRows(deps, tenant, [{ run, ended: false }]));
}

async function* differences({ store, model, signal }: RowDeps, shard: string): AsyncGenerator<Difference> {
  const believed = model.unfinished(shard);
  let next = await believed.next();
  const before = async function* (place: string | undefined): AsyncGenerator<Difference> {
    for (; !next.done && (place === undefined || next.value < place); next = await believed.next()) {
      const [tenant = '', run] = next.value.split('/');
      yield { tenant, run: RunId.parse(run), believed: true };
    }
  };
  for await (const marker of openRuns(store, shard)) {
    if (signal.aborted) return;
    const place = `${marker.tenant}/${marker.run}`;
    yield* before(place);
    if (!next.done && next.value === place) next = await believed.next();
    else yield { ...marker, believed: false };
  }
  yield* before(undefined);
}

export async function compareAll(deps: RowDeps): Promise<void> {
  const failures: unknown[] = [];
  for (const shard of allShards) {
    if (deps.signal.aborted) return;
    await compareShard(deps, shard).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}
