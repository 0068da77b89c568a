import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { KeyList } from '@hotcell/contract/evidence/key-list.ts';
import { keyRequests, putKeyList } from '@hotcell/record/stored-key-list.ts';
import { emptyList, withSuccessor, withUntil } from '@hotcell/setup/keys/key-list-changes.ts';
import { dropOwnKey, ownKey, type OwnSigner } from '@hotcell/setup/keys/rotate-own-key.ts';
import { rotateRoot } from '@hotcell/setup/keys/rotate-root.ts';
import { up } from '@hotcell/setup/up.ts';
import type { Command } from 'commander';
import { globalsOf } from '../globals.ts';
import { reporterFor } from '../reporter.ts';
import { interruptible, progressFor } from '../working.ts';
import { changed, fingerprintOf, refuseUnasked, told } from './change-list.ts';
import { type OperatorKeys, openKeys } from './operator-keys.ts';

/** A service of this machine: it is stopped, started with a new key, and only then the old one is closed. */
export async function rotateOwn(command: Command, role: OwnSigner): Promise<void> {
  const progress = progressFor(globalsOf(command));
  using keys = await openKeys();
  // Before anything is stopped: without the root's key the new one would not count.
  void keys.root;
  const before = await ownKey(keys.installation, role);
  interruptible('./hotcell up');
  const stopped = await dropOwnKey(keys.installation, role, progress);
  await up(process.env, progress, { yes: false });
  const isListed = (await keys.stored())?.list.keys.some(({ fingerprint }) => fingerprint === before) === true;
  if (isListed) await changed(command, keys, (list, now) => withUntil(list, before, stopped, now));
  const after = await ownKey(keys.installation, role);
  reporterFor(globalsOf(command)).note(`The ${role} signs with ${after} instead of ${before}.`);
}

/** A process of another host has forgotten its key and asks for a new one: the operator says which is whose successor. */
export async function successionOf(
  keys: OperatorKeys,
  fingerprint: Digest,
  by: string | undefined,
): Promise<(list: KeyList, now: Date) => KeyList> {
  if (by === undefined)
    throw new HotcellError(
      'invalid',
      'Say with --by which key takes its place. On its host: stop the process, remove its key and request from the folder signing, and start it. It logs the new fingerprint.',
    );
  const wanted = fingerprintOf(by);
  const [successor] = (await keyRequests(keys.store)).filter((request) => request.fingerprint === wanted);
  refuseUnasked([wanted], successor ? [successor] : []);
  return (list, now) => (successor ? withSuccessor(list, fingerprint, successor, now) : list);
}

/** The next list is the new root's. Those who verify elsewhere need its public key from the operator. */
export async function rotateTheRoot(command: Command): Promise<void> {
  using keys = await openKeys();
  const { before, after, list } = await rotateRoot(keys.installation, async (root) => {
    const stored = await keys.stored();
    const { list: last } = stored ?? { list: emptyList(keys.installation.id) };
    const next = { ...last, number: last.number + 1, issuedAt: new Date().toISOString() };
    await putKeyList(keys.store, root, next, stored);
    return next;
  });
  told(command, list);
  reporterFor(globalsOf(command)).note(
    `The root is ${after} instead of ${before}. Give its public key to those who verify elsewhere: ./hotcell key export-root. They have to get it from you, and not with an export.`,
  );
}
