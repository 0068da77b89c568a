import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SigningKey, VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import { textIfThere } from '../settings/config-file.ts';
import { type Installation, placesIn } from '../settings/installation.ts';

/** The roots that this installation trusts: `keys/trust/*.pem`. */
export async function trustedRoots({ home }: Pick<Installation, 'home'>): Promise<VerifyingKey[]> {
  const { trust } = placesIn(home);
  const there = await readdir(trust).catch((error: NodeJS.ErrnoException) => {
    // A machine with only a URL and a key has none.
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const names = there.filter((name) => name.endsWith('.pem')).toSorted();
  return await Promise.all(names.map(async (name) => rootIn(join(trust, name))));
}

/** A root's public key from a file of the caller's. */
export async function rootIn(path: string): Promise<VerifyingKey> {
  return new VerifyingKey(await readFile(path, 'utf8'), path);
}

/** The root's own key, where it is kept on this machine. */
export async function ownRoot({ home }: Pick<Installation, 'home'>): Promise<SigningKey | undefined> {
  const { rootKey } = placesIn(home);
  const pem = await textIfThere(rootKey);
  return pem === undefined ? undefined : new SigningKey(pem, rootKey);
}
