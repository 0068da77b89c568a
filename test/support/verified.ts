import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import type { RecordReader } from '@hotcell/record/verify/record-reader.ts';
import { runsIn } from '@hotcell/record/verify/runs-in.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { verificationBy } from '@hotcell/record/verify/verification.ts';
import { verifyAll } from '@hotcell/record/verify/verify-all.ts';
import type { Bed } from './bed.ts';
import type { House } from './house.ts';

/** What a verifier with this house's root says of every run in a record, by run. */
export async function verdictsOf(
  house: House,
  reader: RecordReader = new StoreReader(house.store),
  { now = new Date() }: { now?: Date } = {},
): Promise<Map<string, RunVerdict>> {
  const trusted = await trustedKeys(reader, [house.signing.root.public]);
  const found = new Map<string, RunVerdict>();
  const of = { ...verificationBy(reader, trusted), now };
  await verifyAll(of, runsIn(reader), (verdict) => found.set(verdict.run, verdict));
  return found;
}

/** A copy of the record's bucket in a folder, as an auditor would take it along. */
export async function copyOf(bed: Bed, { store }: House): Promise<string> {
  const folder = await bed.folder('copy');
  for await (const { key } of store.list(store.record, '')) {
    const path = join(folder, key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, (await store.getBytes(store.record, key)) ?? '');
  }
  return folder;
}
