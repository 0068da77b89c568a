import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { KeyList } from '@hotcell/contract/evidence/key-list.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { keptFile } from '@hotcell/outside/process/kept-file.ts';
import { type Installation, placesIn } from '../settings/installation.ts';
import { ownRoot, rootIn } from './trusted-roots.ts';

/**
 * Another root in the place of this installation's. `sign` puts the list that the new root signs into the record: after
 * that only the new one counts here. Interrupted anywhere, it continues where it stopped.
 */
export async function rotateRoot(
  installation: Pick<Installation, 'home'>,
  sign: (root: SigningKey) => Promise<KeyList>,
): Promise<{ before: Digest; after: Digest; list: KeyList }> {
  const { rootKey, trust, retiredRoots } = placesIn(installation.home);
  const before = await ownRoot(installation);
  if (!before)
    throw new HotcellError(
      'not_found',
      'The root’s key is not on this machine. Make the new one where it is kept, and sign the list there with ./hotcell key sign-list --from DRAFT --root FILE.',
    );
  const next = `${rootKey}.next`;
  const root = new SigningKey(await keptFile(next, 0o600, () => SigningKey.generate()), next);
  await keptFile(join(trust, pemName(root.fingerprint)), 0o444, () => root.public.pem);
  const list = await sign(root);
  await rename(next, rootKey);
  // Kept, but not trusted: exports that were made before are verified by it.
  await mkdir(retiredRoots, { recursive: true });
  for (const name of await readdir(trust)) {
    const path = join(trust, name);
    if (name.endsWith('.pem') && (await rootIn(path)).fingerprint === before.fingerprint)
      await rename(path, join(retiredRoots, pemName(before.fingerprint)));
  }
  return { before: before.fingerprint, after: root.fingerprint, list };
}

const pemName = (fingerprint: Digest) => `root-${hexOf(fingerprint).slice(0, 16)}.pem`;
