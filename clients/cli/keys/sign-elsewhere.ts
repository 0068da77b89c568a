import { readFile, writeFile } from 'node:fs/promises';
import { canonical } from '@hotcell/contract/digest.ts';
import { KeyList, readKeyList, SignedKeyList, signKeyList } from '@hotcell/contract/evidence/key-list.ts';
import { asSignedBy, withRetiredRoot } from '@hotcell/contract/evidence/root-succession.ts';
import { SigningKey, type VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { putSignedKeyList } from '@hotcell/record/stored-key-list.ts';
import { trustedRoots } from '@hotcell/setup/keys/trusted-roots.ts';
import type { OperatorKeys } from './operator-keys.ts';

/** A list that is signed elsewhere has a way to go, and meanwhile the root of before may erase. */
const onItsWayMs = 7 * 86_400_000;

/**
 * For an installation without the root's key: what the machine that has it is to sign. If another root signs it, the one
 * that signed the list before is retired.
 */
export async function writeDraft(list: KeyList, before: VerifyingKey | undefined, file: string): Promise<void> {
  const until = new Date(Date.parse(list.issuedAt) + onItsWayMs).toISOString();
  await writeFile(file, `${canonical(withRetiredRoot(list, before, until))}\n`);
}

/** On the machine that has the root's key. It needs no installation and no network. */
export async function signDraft(draft: string, rootFile: string): Promise<string> {
  const list = parseJsonAs(KeyList, await readFile(draft, 'utf8'), draft);
  const root = new SigningKey(await readFile(rootFile, 'utf8'), rootFile);
  return `${canonical(signKeyList(root, asSignedBy(root.fingerprint, list)))}\n`;
}

/** Puts what was signed elsewhere into the record; never over a list with the same number or a later one. */
export async function putSigned(keys: OperatorKeys, file: string): Promise<KeyList> {
  const signed = parseJsonAs(SignedKeyList, await readFile(file, 'utf8'), file);
  const { list } = readKeyList(signed, await trustedRoots(keys.installation));
  const before = await keys.stored();
  if (before && list.number <= before.list.number)
    throw new HotcellError(
      'conflict',
      `The record has list ${before.list.number} of signing keys, and ${file} is list ${list.number}. Make a new draft, and sign that.`,
    );
  await putSignedKeyList(keys.store, signed, before);
  return list;
}
