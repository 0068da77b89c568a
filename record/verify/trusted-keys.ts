import type { Digest } from '@hotcell/contract/digest.ts';
import {
  SignedKeyList,
  type KnownKey,
  knownKeys,
  readKeyList,
  type KeyList,
} from '@hotcell/contract/evidence/key-list.ts';
import type { VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { recordKeys } from '../layout.ts';
import { type RecordReader, readWhole } from './record-reader.ts';

export interface TrustedKeys {
  list: KeyList;
  keys: ReadonlyMap<Digest, KnownKey>;
}

/** The keys that count: those on the record's list, if a root signed it that the verifier brought along. */
export async function trustedKeys(reader: RecordReader, roots: readonly VerifyingKey[]): Promise<TrustedKeys> {
  const bytes = await readWhole(reader, recordKeys.keyList);
  if (!bytes)
    throw new HotcellError(
      'not_found',
      `There is no list of signing keys in ${reader.name} (${recordKeys.keyList}), so no signature can be judged.`,
    );
  const list = readKeyList(
    parseJsonAs(SignedKeyList, bytes.toString('utf8'), recordKeys.keyList, 'record_damaged'),
    roots,
  );
  return { list, keys: knownKeys(list) };
}
