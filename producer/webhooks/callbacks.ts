import { randomUUID } from 'node:crypto';
import { judgeWebhookUrl } from '@hotcell/contract/address-guard.ts';
import type { Issue } from '@hotcell/contract/errors.ts';
import type { CallbackKeys } from '@hotcell/contract/webhook.ts';
import { newWebhookKeys } from '@hotcell/contract/webhook-signature.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { putCallbackKeys, readCallbackKeys } from '@hotcell/record/callback-records.ts';
import type { Producer } from '../producer.ts';

/** Why a request can't be told of its end there. */
export function judgeCallback(
  { webhookNetworks }: Pick<Producer, 'webhookNetworks'>,
  callback: string | undefined,
): Issue[] {
  if (callback === undefined) return [];
  const judged = judgeWebhookUrl(callback, webhookNetworks);
  return 'refused' in judged ? [{ path: 'callback', message: `${judged.refused}.` }] : [];
}

/**
 * The tenant's, made when it first needs them: before what names a callback is accepted, or its receiver could not be
 * told apart from a tenant's that has none.
 */
export async function callbackKeysOf(store: Buckets, tenant: string): Promise<CallbackKeys> {
  const standing = await readCallbackKeys(store, tenant);
  if (standing) return standing;
  const createdAt = new Date().toISOString();
  return await putCallbackKeys(store, { version: 1, tenant, id: randomUUID(), createdAt, ...newWebhookKeys() });
}
