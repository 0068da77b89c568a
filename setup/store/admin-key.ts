import { readFile } from 'node:fs/promises';
import { ApiKey, apiKeyIdOf } from '@hotcell/contract/apikey.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { apiKeyRecord, putApiKey, readApiKey } from '@hotcell/record/api-keys.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { type Installation, placesIn } from '../settings/installation.ts';

/** The first API key: the operator's, in `credentials`. Only its hash goes to the store. */
export async function ensureAdminKey(installation: Installation): Promise<void> {
  const path = placesIn(installation.home).credentials;
  const key = parseAs(ApiKey, (await readFile(path, 'utf8')).trim(), path);
  using store = new Buckets(installation.store);
  if (await readApiKey(store, apiKeyIdOf(key))) return;
  const label = 'the command line of this installation';
  await putApiKey(store, apiKeyRecord(key, { tenant: 'default', role: 'admin', label }));
}
