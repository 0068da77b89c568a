import { type Eraser, erasersOf } from '@hotcell/contract/evidence/root-succession.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { storedKeyList } from '@hotcell/record/stored-key-list.ts';
import type { Installation } from '../settings/installation.ts';
import { trustedRoots } from './trusted-roots.ts';

/** Those on whose word this installation lets the outputs of runs go. */
export async function erasersHere(store: Buckets, installation: Pick<Installation, 'home'>): Promise<Eraser[]> {
  const roots = await trustedRoots(installation);
  const stored = await storedKeyList(store, roots);
  return erasersOf(roots, stored?.list ?? {});
}
