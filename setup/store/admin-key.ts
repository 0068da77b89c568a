import { readFile } from 'node:fs/promises';
import { apiKeyIdOf, ApiKey } from '@hotcell/contract/apikey.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import type { ApiKeyRecord } from '@hotcell/record/schemas.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { type Installation, placesIn } from '../settings/installation.ts';

/** The first API key: the operator's, in `credentials`. Only its hash goes to the store. */
export async function ensureAdminKey(installation: Installation): Promise<void> {
  const path = placesIn(installation.home).credentials;
  const key = parseAs(ApiKey, (await readFile(path, 'utf8')).trim(), path);
  const record: ApiKeyRecord = {
    version: 1,
    id: apiKeyIdOf(key),
    sha256: sha256(key),
    tenant: 'default',
    role: 'admin',
    label: 'the command line of this installation',
    createdAt: new Date().toISOString(),
  };
  using store = new Buckets(installation.store);
  await store.putIfAbsent(store.record, recordKeys.apiKey(record.id), JSON.stringify(record));
}
