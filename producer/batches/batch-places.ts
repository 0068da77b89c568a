import { type BatchHead, mostOpenBatches as most } from '@hotcell/contract/batch.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { markBatchOpen, openBatches, type OpenRound, readBatch } from '@hotcell/record/batch-records.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { isAbandoned, takePlace } from '@hotcell/record/take-place.ts';
import type { Place } from '@hotcell/record/schemas.ts';

const readsAtOnce = 8;

/** A look before any work is done for the request. Two at once may pass it: the place that each takes decides. */
export async function requireRoom(store: Buckets, tenant: string): Promise<void> {
  if ((await markedOf(store, tenant)).length >= most) throw noRoom(tenant);
}

/** For its newest round. As `made`: it stands in the head, and its mark may be put. */
export async function takeBatchPlace(
  store: Buckets,
  { tenant, batch, rounds }: Pick<BatchHead, 'tenant' | 'batch' | 'rounds'>,
  made: boolean,
): Promise<void> {
  const id = idOf({ batch, round: rounds.length - 1 });
  const there = () => markedOf(store, tenant);
  const over = (places: readonly Place[]) => overOf(store, tenant, places);
  if (!(await takePlace(store, { of: 'batches', tenant, most, there, over }, id, made))) throw noRoom(tenant);
}

const idOf = ({ batch, round }: Pick<OpenRound, 'batch' | 'round'>) => `${batch}/${round}`;

async function markedOf(store: Buckets, tenant: string): Promise<string[]> {
  return (await Array.fromAsync(openBatches(store, tenant))).map(idOf);
}

async function overOf(store: Buckets, tenant: string, places: readonly Place[]): Promise<Place[]> {
  const marked = new Set(await markedOf(store, tenant));
  const over: Place[] = [];
  await inLanes(readsAtOnce, places, async (place) => {
    const [id, round] = place.id.split('/');
    const batch = RunId.safeParse(id);
    if (marked.has(place.id)) return;
    if (!batch.success || isAbandoned(place)) return void over.push(place);
    if (!place.made) return;
    const at = { tenant, batch: batch.data, round: Number(round) };
    const standing = (await readBatch(store, at))?.value.rounds[at.round];
    if (!standing || standing.ended) over.push(place);
    // Its producer died before it put the mark: the leader goes on with it now.
    else await markBatchOpen(store, at);
  });
  return over;
}

function noRoom(tenant: string): HotcellError {
  return new HotcellError(
    'too_many',
    `The tenant ${tenant} has ${most} open batches, the most that it may have. Try again when one has finished.`,
    { extra: { limit: 'batches', retryAfterSeconds: 60 } },
  );
}
