import { randomBytes } from 'node:crypto';
import { apiKeyIdOf } from '@hotcell/contract/apikey.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import type { Buckets } from './buckets.ts';
import { recordKeys } from './layout.ts';
import { objects } from './objects.ts';
import { put, readValue } from './read-write.ts';
import type { ApiKeyRecord } from './schemas.ts';

type AskedApiKey = Pick<ApiKeyRecord, 'tenant' | 'role' | 'label' | 'expiresAt'>;

/** The caller sees the key once; only its hash is stored. */
export function newApiKey(asked: AskedApiKey): { key: string; record: ApiKeyRecord } {
  const key = `hc_${randomBytes(32).toString('base64url')}`;
  return { key, record: apiKeyRecord(key, asked) };
}

export function apiKeyRecord(key: string, asked: AskedApiKey): ApiKeyRecord {
  return { version: 1, id: apiKeyIdOf(key), sha256: sha256(key), ...asked, createdAt: new Date().toISOString() };
}

export function putApiKey(store: Buckets, record: ApiKeyRecord): Promise<void> {
  return put(store, objects.apiKey, record, record.id);
}

export function readApiKey(store: Buckets, id: string): Promise<ApiKeyRecord | undefined> {
  return readValue(store, objects.apiKey, id);
}

const readAtOnce = 16;
/** A page ends after so many keys, whosesoever they are: a tenant's few may be far apart. */
const mostRead = 1_000;

/** Keys in the order of their ids, from one on. A page may be shorter than asked for; `next` says whether it is the last. */
export async function pageOfApiKeys(
  store: Buckets,
  wanted: (tenant: string) => boolean,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<{ records: ApiKeyRecord[]; next: string | null }> {
  const records: ApiKeyRecord[] = [];
  const ids: string[] = [];
  let read = 0;
  const take = async () => {
    read += ids.length;
    const found = await Promise.all(ids.map((id) => readApiKey(store, id)));
    records.push(...found.filter((record) => record !== undefined).filter(({ tenant }) => wanted(tenant)));
    const last = ids.at(-1) ?? null;
    ids.length = 0;
    return records.length >= limit || read >= mostRead ? last : null;
  };
  for await (const id of apiKeyIds(store, after)) {
    // Looked at only when there is one more: the page before it was not the last.
    const last = ids.length >= Math.min(readAtOnce, limit - records.length) ? await take() : null;
    if (last !== null) return { records, next: last };
    ids.push(id);
  }
  await take();
  return { records, next: null };
}

export async function* apiKeyIds(store: Buckets, after?: string): AsyncGenerator<string> {
  const prefix = recordKeys.apiKeys;
  const from = after === undefined ? {} : { after: recordKeys.apiKey(after) };
  for await (const { key } of store.list(store.record, prefix, from)) yield key.slice(prefix.length, -'.json'.length);
}
