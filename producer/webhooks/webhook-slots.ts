import { mostWebhooks as most, type Webhook } from '@hotcell/contract/webhook.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { Slot } from '@hotcell/record/schemas.ts';
import { isAbandoned } from '@hotcell/record/slot-list.ts';
import { takeSlot } from '@hotcell/record/take-slot.ts';
import { passOver, putRemovedWebhook, readWebhook, webhooksOf } from '@hotcell/record/webhook-records.ts';
import { endedSlots, noFreeSlot } from '../tenant-slots.ts';

const bound = { limit: 'webhooks', most, what: 'webhooks', next: 'Remove one.' } as const;

/** Before it is put. From then on it has its slot until it is removed. */
export async function takeWebhookSlot(store: Buckets, { tenant, id }: Pick<Webhook, 'tenant' | 'id'>): Promise<void> {
  const existing = async () => (await webhooksOf(store, tenant)).map(({ value }) => value.id);
  const whichEnded = (slots: readonly Slot[]) => removedWebhooks(store, tenant, slots);
  if (!(await takeSlot(store, { kind: 'webhooks', tenant, most, existing, whichEnded }, id)))
    throw noFreeSlot(tenant, bound);
}

async function removedWebhooks(store: Buckets, tenant: string, slots: readonly Slot[]): Promise<readonly Slot[]> {
  return await endedSlots(slots, async (slot) => {
    const webhook = await readWebhook(store, tenant, slot.id).catch(passOver(store));
    if (webhook) return webhook.value.removed !== undefined;
    return isAbandoned(slot) && (await putRemovedWebhook(store, { tenant, id: slot.id, createdAt: slot.at }));
  });
}
