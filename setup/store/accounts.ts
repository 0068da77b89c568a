import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { textIfThere, writeWhole } from '../settings/config-file.ts';
import { type Account, accounts, type Installation, placesIn } from '../settings/installation.ts';

export async function accountKeys(
  installation: Installation,
  account: Account,
): Promise<{ accessKey: string; secretKey: string }> {
  const { secret } = placesIn(installation.home);
  const read = async (name: string) => (await readFile(secret(`${account}-s3-${name}`), 'utf8')).trim();
  return { accessKey: await read('access-key'), secretKey: await read('secret-key') };
}

export async function accessKeys(installation: Installation): Promise<Record<Account, string>> {
  const pairs = accounts.map(
    async (account) => [account, (await accountKeys(installation, account)).accessKey] as const,
  );
  return Object.fromEntries(await Promise.all(pairs)) as Record<Account, string>;
}

/**
 * The store's own list of accounts, written before the store starts: its admin API can stay closed, and every `up`
 * restores the list.
 */
export async function writeAccounts(installation: Installation): Promise<void> {
  const path = join(placesIn(installation.home).storeData, 'iam', 'users.json');
  const accessAccounts: Record<string, unknown> = {};
  for (const account of accounts) {
    const { accessKey, secretKey } = await accountKeys(installation, account);
    accessAccounts[accessKey] = {
      access: accessKey,
      secret: secretKey,
      role: 'user',
      userID: 0,
      groupID: 0,
      projectID: 0,
    };
  }
  const content = JSON.stringify({ accessAccounts });
  if ((await textIfThere(path)) !== content) await writeWhole(path, content, 0o600);
}
