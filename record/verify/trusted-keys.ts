import type { Digest } from '@hotcell/contract/digest.ts';
import { type KnownKey, knownKeys, type RootedKeyList } from '@hotcell/contract/evidence/key-list.ts';
import { type Eraser, erasersOf } from '@hotcell/contract/evidence/root-succession.ts';
import type { VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys } from '../layout.ts';
import { keyListIn, newestKeyList } from '../newest-key-list.ts';
import { type RecordReader, readWhole } from './record-reader.ts';

export interface TrustedKeys extends RootedKeyList {
  keys: ReadonlyMap<Digest, KnownKey>;
  /** Those whose word excuses bytes that are gone. */
  erasers: readonly Eraser[];
  /** The number of the earlier list that stands in this list's place, if one was put back. */
  putBackTo: number | undefined;
}

/**
 * The keys that count: those on the record's list, if a root signed it that the verifier brought along. Where the
 * record keeps versions, an earlier list that was put back doesn't count: the newest one does.
 */
export async function trustedKeys(reader: RecordReader, roots: readonly VerifyingKey[]): Promise<TrustedKeys> {
  // Before the current list: one that the operator puts meanwhile must not look as if an earlier one was put back.
  const newest = reader.earlierVersions && (await newestKeyList(reader.earlierVersions(recordKeys.keyList), roots));
  const bytes = await readWhole(reader, recordKeys.keyList);
  if (!bytes)
    throw new HotcellError(
      'not_found',
      `There is no list of signing keys in ${reader.name} (${recordKeys.keyList}), so no signature can be judged.`,
    );
  const current = keyListIn(bytes, roots);
  const isPutBack = newest !== undefined && newest.list.number > current.list.number;
  const { list, root } = isPutBack ? newest : current;
  const putBackTo = isPutBack ? current.list.number : undefined;
  return { list, root, keys: knownKeys(list), erasers: erasersOf(roots, list), putBackTo };
}
