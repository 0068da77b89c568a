import { inLanes } from '@hotcell/contract/lanes.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { FinishedRun } from '@hotcell/record/finished-runs.ts';
import { noteEvent, tenantsWithWebhooks } from '@hotcell/record/webhook-records.ts';

const atOnce = 16;

export interface EndedRun extends FinishedRun {
  outcome: string;
  at: string;
}

/** For webhooks, while the done markers still stand: an end whose note fails is found again by the next pass. */
export async function noteEnds(store: Buckets, ended: readonly EndedRun[]): Promise<void> {
  if (ended.length === 0) return;
  const tenants = await tenantsWithWebhooks(store);
  const wanted = ended.filter(({ tenant }) => tenants.has(tenant));
  await inLanes(atOnce, wanted, async ({ tenant, run, outcome, at }) => {
    await noteEvent(store, { version: 1, tenant, id: `run-${run}`, type: 'run.finished', at, data: { run, outcome } });
  });
}
