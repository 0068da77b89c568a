import { inLanes } from '@hotcell/contract/lanes.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { hasCallbacks } from '@hotcell/record/callback-records.ts';
import type { FinishedRun } from '@hotcell/record/finished-runs.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import {
  hasWebhooks,
  noteCalledEvent,
  noteEvent,
  passOver,
  tenantsWithWebhooks,
} from '@hotcell/record/webhook-records.ts';

const atOnce = 16;

export interface EndedRun extends FinishedRun {
  outcome: string;
  at: string;
}

/** What of a tenant wants to hear of ends. */
interface Listening {
  webhooks: boolean;
  callbacks: boolean;
}

/**
 * For webhooks and callbacks, while the done markers still stand: an end whose note fails is found again by the next
 * pass. A run's spec is read only where its tenant has callbacks.
 */
export async function noteEnds(store: Buckets, ended: readonly EndedRun[]): Promise<void> {
  if (ended.length === 0) return;
  const listening = await listeningTo(store, ended);
  await inLanes(atOnce, ended, async ({ tenant, run, outcome, at }) => {
    const { webhooks = false, callbacks = false } = listening.get(tenant) ?? {};
    const callback = callbacks ? await callbackOf(store, { tenant, run }) : undefined;
    const event = { version: 1, tenant, id: `run-${run}`, type: 'run.finished', at, data: { run, outcome } } as const;
    if (callback !== undefined) await noteCalledEvent(store, event, callback);
    else if (webhooks) await noteEvent(store, event);
  });
}

async function listeningTo(store: Buckets, ended: readonly EndedRun[]): Promise<ReadonlyMap<string, Listening>> {
  const tenants = await tenantsWithWebhooks(store);
  const wanted = new Set(ended.flatMap(({ tenant }) => (tenants.has(tenant) ? tenant : [])));
  const listening = new Map<string, Listening>();
  await inLanes(atOnce, [...wanted], async (tenant) => {
    const [webhooks, callbacks] = await Promise.all([hasWebhooks(store, tenant), hasCallbacks(store, tenant)]);
    listening.set(tenant, { webhooks, callbacks });
  });
  return listening;
}

/** A refused run has no spec: its requester was told at once. A spec that can't be read holds up no other end. */
async function callbackOf(store: Buckets, { tenant, run }: FinishedRun): Promise<string | undefined> {
  return (await findSpec(store, tenant, run).catch(passOver(store)))?.spec.callback;
}
