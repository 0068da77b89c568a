import { readKeyList, type RootedKeyList, SignedKeyList } from '@hotcell/contract/evidence/key-list.ts';
import type { VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { recordKeys } from './layout.ts';
import { isDamaged } from './read-write.ts';

export function keyListIn(bytes: Buffer, roots: readonly VerifyingKey[]): RootedKeyList {
  const signed = parseJsonAs(SignedKeyList, bytes.toString('utf8'), recordKeys.keyList, 'record_damaged');
  return readKeyList(signed, roots);
}

/**
 * The list with the highest number that one of these roots signed. A writer of the bucket can put an earlier list back,
 * without the revocations of a later one, but can't sign a number.
 */
export async function newestKeyList(
  versions: AsyncIterable<Buffer>,
  roots: readonly VerifyingKey[],
): Promise<RootedKeyList | undefined> {
  let newest: RootedKeyList | undefined;
  for await (const bytes of versions) {
    const found = signedOrNone(bytes, roots);
    if (found && found.list.number > (newest?.list.number ?? 0)) newest = found;
  }
  return newest;
}

/** Any writer of the bucket can leave a version that no root signed: it says nothing. */
function signedOrNone(bytes: Buffer, roots: readonly VerifyingKey[]): RootedKeyList | undefined {
  try {
    return keyListIn(bytes, roots);
  } catch (error) {
    if (isDamaged(error)) return undefined;
    throw error;
  }
}
