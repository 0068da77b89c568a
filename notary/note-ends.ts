import { inLanes } from '@hotcell/contract/lanes.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { FinishedRun } from '@hotcell/record/finished-runs.ts';
import { hasWebhooks, noteCalledEvent, noteEvent, tenantsWithWebhooks } from '@hotcell/record/webhook-records.ts';

const atOnce = 16;

export interface EndedRun extends FinishedRun {
  outcome: string;
  at: string;
  /** As its result says it. */
  callback: string | undefined;
}

/**
 * For webhooks and callbacks, while the done markers still stand: an end whose note fails is found again by the next
 * pass.
 */
export async function noteEnds(store: Buckets, ended: readonly EndedRun[]): Promise<void> {
  if (ended.length === 0) return;
  const listening = await listeningTo(store, ended);
  await inLanes(atOnce, ended, async ({ tenant, run, outcome, at, callback }) => {
    const event = { version: 1, tenant, id: `run-${run}`, type: 'run.finished', at, data: { run, outcome } } as const;
    if (callback !== undefined) await noteCalledEvent(store, event, callback);
    else if (listening.has(tenant)) await noteEvent(store, event);
  });
}

/** The tenants that have webhooks. */
async function listeningTo(store: Buckets, ended: readonly EndedRun[]): Promise<ReadonlySet<string>> {
  const tenants = await tenantsWithWebhooks(store);
  const wanted = new Set(ended.flatMap(({ tenant }) => (tenants.has(tenant) ? tenant : [])));
  const listening = new Set<string>();
  await inLanes(atOnce, [...wanted], async (tenant) => {
    if (await hasWebhooks(store, tenant)) listening.add(tenant);
  });
  return listening;
}
