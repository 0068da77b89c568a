import { sha256 } from '@hotcell/contract/digest.ts';
import type { OutputFile } from '@hotcell/contract/result.ts';
import type { Buckets } from './buckets.ts';
import { recordKeys } from './layout.ts';

/** The bytes of a small output; undefined if they are missing, or are not those of the result. */
export async function heldContent(
  store: Buckets,
  tenant: string,
  { size, sha256: digest }: Pick<OutputFile, 'size' | 'sha256'>,
): Promise<Buffer | undefined> {
  const found = await store.getUpTo(size, store.record, recordKeys.cas(tenant, digest));
  return found?.bytes && sha256(found.bytes) === digest ? found.bytes : undefined;
}
