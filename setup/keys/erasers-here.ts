import { readFile } from 'node:fs/promises';
import { type Eraser, erasersOf } from '@hotcell/contract/evidence/root-succession.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { EraseDeps } from '@hotcell/record/erase-run.ts';
import { storedKeyList } from '@hotcell/record/stored-key-list.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import type { Installation } from '../settings/installation.ts';
import { ownRoot, trustedRoots } from './trusted-roots.ts';

/** What signs erasures here, and what those who verify go by; undefined where the root's key is kept elsewhere. */
export async function eraserHere(
  store: Buckets,
  installation: Pick<Installation, 'home'>,
  rootFile: string | undefined,
): Promise<(() => Promise<Pick<EraseDeps, 'root' | 'trusted'>>) | undefined> {
  const root =
    rootFile === undefined ? await ownRoot(installation) : new SigningKey(await readFile(rootFile, 'utf8'), rootFile);
  if (!root) return undefined;
  return async () => ({ root, trusted: await trustedKeys(new StoreReader(store), await trustedRoots(installation)) });
}

/** Those on whose word this installation lets the outputs of runs go. */
export async function erasersHere(store: Buckets, installation: Pick<Installation, 'home'>): Promise<Eraser[]> {
  const roots = await trustedRoots(installation);
  const stored = await storedKeyList(store, roots);
  return erasersOf(roots, stored?.list ?? {});
}
