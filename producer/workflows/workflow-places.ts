import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { workflowLimits } from '@hotcell/contract/workflow.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { isAbandoned, takePlace } from '@hotcell/record/take-place.ts';
import type { Place } from '@hotcell/record/schemas.ts';
import {
  markWorkflowOpen,
  openWorkflows,
  readWorkflow,
  readWorkflowEnd,
  type WorkflowPlace,
} from '@hotcell/record/workflow-records.ts';

const readsAtOnce = 8;
const { open: most } = workflowLimits;

/** A look before any work is done for the request. Two at once may pass it: the place that each takes decides. */
export async function requireRoom(store: Buckets, tenant: string): Promise<void> {
  if ((await markedOf(store, tenant)).length >= most) throw noRoom(tenant);
}

/** As `made`: its mark is put, and its definition may be. */
export async function takeWorkflowPlace(store: Buckets, { tenant, id }: WorkflowPlace, made: boolean): Promise<void> {
  const there = () => markedOf(store, tenant);
  const over = (places: readonly Place[]) => overOf(store, tenant, places);
  if (!(await takePlace(store, { of: 'workflows', tenant, most, there, over }, id, made))) throw noRoom(tenant);
}

async function markedOf(store: Buckets, tenant: string): Promise<string[]> {
  return (await Array.fromAsync(openWorkflows(store, tenant))).map(({ id }) => id);
}

async function overOf(store: Buckets, tenant: string, places: readonly Place[]): Promise<Place[]> {
  const marked = new Set(await markedOf(store, tenant));
  const over: Place[] = [];
  await inLanes(readsAtOnce, places, async (place) => {
    const id = RunId.safeParse(place.id);
    if (marked.has(place.id)) return;
    if (!id.success || isAbandoned(place)) return void over.push(place);
    if (!place.made) return;
    const at = { tenant, id: id.data };
    // Its maker died between its mark and its definition, and the mark was collected.
    if ((await readWorkflowEnd(store, at)) || !(await readWorkflow(store, at))) over.push(place);
    else await markWorkflowOpen(store, at);
  });
  return over;
}

function noRoom(tenant: string): HotcellError {
  return new HotcellError(
    'too_many',
    `The tenant ${tenant} has ${most} open workflows, the most that it may have. Try again when one has ended.`,
    { extra: { limit: 'workflows', retryAfterSeconds: 60 } },
  );
}
