import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { mostWebhooks as most, type Webhook } from '@hotcell/contract/webhook.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { isAbandoned, takePlace } from '@hotcell/record/take-place.ts';
import type { Place } from '@hotcell/record/schemas.ts';
import { passOver, putWebhook, readWebhook, webhooksOf } from '@hotcell/record/webhook-records.ts';

const readsAtOnce = 8;

/** Before it is put. From then on it has its place until it is removed. */
export async function takeWebhookPlace(store: Buckets, { tenant, id }: Pick<Webhook, 'tenant' | 'id'>): Promise<void> {
  const there = async () => (await webhooksOf(store, tenant)).map(({ value }) => value.id);
  const over = (places: readonly Place[]) => overOf(store, tenant, places);
  if (await takePlace(store, { of: 'webhooks', tenant, most, there, over }, id)) return;
  throw new HotcellError(
    'too_many',
    `The tenant ${tenant} has ${most} webhooks, the most that it may have. Remove one.`,
    {
      extra: { limit: 'webhooks' },
    },
  );
}

async function overOf(store: Buckets, tenant: string, places: readonly Place[]): Promise<Place[]> {
  const over: Place[] = [];
  await inLanes(readsAtOnce, places, async (place) => {
    const head = await readWebhook(store, tenant, place.id).catch(passOver(store));
    if (head ? head.value.removed : isAbandoned(place) && (await close(store, tenant, place))) over.push(place);
  });
  return over;
}

/** Where its maker would put it stands one that is removed: a maker that was held up can't put it any more. */
async function close(store: Buckets, tenant: string, { id, at: createdAt }: Place): Promise<boolean> {
  const removed = { at: new Date().toISOString(), by: 'Hotcell' };
  const none = { url: 'https://removed.invalid/', on: ['run.finished' as const], by: 'Hotcell' };
  const keys = { privateKey: '', publicKey: '' };
  try {
    await putWebhook(store, { version: 1, tenant, id, createdAt, ...none, ...keys, removed }, undefined);
    return true;
  } catch (error) {
    if (error instanceof PreconditionFailed) return false;
    throw error;
  }
}
