import { randomFillSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Digest, hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { putSnapshot } from '@hotcell/record/snapshot-store.ts';
import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { contentsAs } from '../../test/support/freezing.ts';
import type { House } from '../../test/support/house.ts';
import { many } from './many.ts';
import { mib } from './cells.ts';

export interface SetOf {
  files: number;
  bytesEach: number;
}
/**
 * The two sets of files that measure staging and freezing. A quick run has as many big files, only smaller ones, so that
 * one more still adds as little; they are still too big to be held whole.
 */
export const bigSet = (quick: boolean): SetOf => ({ files: 64, bytesEach: (quick ? 5 : 32) * mib });
export const smallSet = (quick: boolean): SetOf => ({ files: quick ? 2_000 : 20_000, bytesEach: 4096 });

/** Different, incompressible bytes for each file. */
function randomBytes(size: number): Buffer {
  return randomFillSync(Buffer.allocUnsafe(size));
}
const nameOf = (i: number) => `part-${i % 100}/file-${i}.bin`;

/** A snapshot of such files, in the contents of a tenant that has nothing else, so that tools can fetch its prefix. */
export async function frozenSet(
  house: House,
  tenant: string,
  { files, bytesEach }: SetOf,
): Promise<{ snapshot: Digest; locations: Digest }> {
  await using contents = await contentsAs(house, 'producer');
  const entries: SnapshotEntry[] = [];
  await many(files, 8, async (i) => {
    const bytes = randomBytes(bytesEach);
    const digest = sha256(bytes);
    await contents.own.put(house.store.record, recordKeys.cas(tenant, digest), bytes, hexOf(digest));
    entries.push({ path: nameOf(i), size: bytesEach, sha256: digest });
  });
  return await putSnapshot(house.producer.store, tenant, entries);
}

/** The same files in one folder of this machine. */
export function folderSet(folder: string, { files, bytesEach }: SetOf, from = 0): void {
  mkdirSync(folder, { recursive: true });
  for (let i = from; i < from + files; i++) writeFileSync(join(folder, `file-${i}.bin`), randomBytes(bytesEach));
}
