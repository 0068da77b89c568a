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

export async function* apiKeys(store: Buckets): AsyncGenerator<ApiKeyRecord> {
  const prefix = recordKeys.apiKeys;
  for await (const { key } of store.list(store.record, prefix)) {
    const record = await readApiKey(store, key.slice(prefix.length, -'.json'.length));
    if (record) yield record;
  }
}
