import { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { KeyList } from '@hotcell/contract/evidence/key-list.ts';
import { putKeyList, type Requested } from '@hotcell/record/stored-key-list.ts';
import { emptyList } from '@hotcell/setup/keys/key-list-changes.ts';
import type { Command } from 'commander';
import { globalsOf, printJson } from '../globals.ts';
import { reporterFor } from '../reporter.ts';
import type { OperatorKeys } from './operator-keys.ts';

export async function changed(
  command: Command,
  keys: OperatorKeys,
  change: (list: KeyList, now: Date) => KeyList,
): Promise<void> {
  const before = await keys.stored();
  const list = change(before?.list ?? emptyList(keys.installation.id), new Date());
  await putKeyList(keys.store, keys.root, list, before);
  told(command, list);
}

export function told(command: Command, list: KeyList): void {
  const globals = globalsOf(command);
  if (globals.json) printJson(list);
  else reporterFor(globals).note(`Signed list ${list.number} of signing keys: ${list.keys.length} keys.`);
}

export function fingerprintOf(said: string): Digest {
  const parsed = Digest.safeParse(said.startsWith('sha256:') ? said : `sha256:${said}`);
  if (parsed.success) return parsed.data;
  throw new HotcellError(
    'invalid',
    `${said} is no fingerprint: sha256: and 64 hex digits, as ./hotcell key ls shows them.`,
  );
}

export function refuseUnasked(wanted: readonly Digest[], requests: readonly Requested[]): void {
  const missing = wanted.filter((one) => !requests.some(({ fingerprint }) => fingerprint === one));
  if (missing.length === 0) return;
  throw new HotcellError('not_found', `No process asked for ${missing.join(', ')}. ./hotcell key ls shows what waits.`);
}
