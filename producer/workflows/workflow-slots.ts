import { RunId } from '@hotcell/contract/names.ts';
import { workflowLimits } from '@hotcell/contract/workflow.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { Slot } from '@hotcell/record/schemas.ts';
import { isAbandoned } from '@hotcell/record/slot-list.ts';
import { confirmSlot, takeSlot, type TenantSlots } from '@hotcell/record/take-slot.ts';
import {
  markWorkflowOpen,
  openWorkflows,
  readWorkflow,
  readWorkflowEnd,
  type WorkflowAt,
} from '@hotcell/record/workflow-records.ts';
import { endedSlots, noFreeSlot } from '../tenant-slots.ts';

const { open: most } = workflowLimits;
const bound = {
  limit: 'workflows',
  most,
  what: 'open workflows',
  next: 'Try again when one has ended.',
  retryAfterSeconds: 60,
} as const;

/** A look before any work is done for the request. Two at once may pass it: the slot that each takes decides. */
export async function requireFreeWorkflowSlot(store: Buckets, tenant: string): Promise<void> {
  if ((await markedWorkflows(store, tenant)).length >= most) throw noFreeSlot(tenant, bound);
}

export async function takeWorkflowSlot(store: Buckets, { tenant, id }: WorkflowAt): Promise<void> {
  if (!(await takeSlot(store, slotsFor(store, tenant), id))) throw noFreeSlot(tenant, bound);
}

/** Its mark is put, and its definition may be. */
export async function confirmWorkflowSlot(store: Buckets, { tenant, id }: WorkflowAt): Promise<void> {
  if (!(await confirmSlot(store, slotsFor(store, tenant), id))) throw noFreeSlot(tenant, bound);
}

const slotsFor = (store: Buckets, tenant: string): TenantSlots => ({
  ...{ kind: 'workflows', tenant, most },
  existing: () => markedWorkflows(store, tenant),
  whichEnded: (slots) => endedWorkflows(store, tenant, slots),
});

async function markedWorkflows(store: Buckets, tenant: string): Promise<string[]> {
  return (await Array.fromAsync(openWorkflows(store, tenant))).map(({ id }) => id);
}

async function endedWorkflows(store: Buckets, tenant: string, slots: readonly Slot[]): Promise<readonly Slot[]> {
  const marked = new Set(await markedWorkflows(store, tenant));
  const unmarked = slots.filter(({ id }) => !marked.has(id));
  return await endedSlots(unmarked, async (slot) => {
    const id = RunId.safeParse(slot.id);
    if (!id.success || isAbandoned(slot)) return true;
    if (!slot.made) return false;
    const at = { tenant, id: id.data };
    // Without a definition, its producer died after it put the mark, and the mark was collected.
    if ((await readWorkflowEnd(store, at)) || !(await readWorkflow(store, at))) return true;
    await markWorkflowOpen(store, at);
    return false;
  });
}
