import type { Digest } from '@hotcell/contract/digest.ts';
import type { KeyList, ListedKey } from '@hotcell/contract/evidence/key-list.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Requested } from '@hotcell/record/stored-key-list.ts';

/** Before the first list. */
export const emptyList = (installation: string): KeyList => ({
  version: 1,
  installation,
  number: 0,
  issuedAt: new Date(0).toISOString(),
  keys: [],
});

function next(list: KeyList, keys: ListedKey[], now: Date): KeyList {
  return { ...list, number: list.number + 1, issuedAt: now.toISOString(), keys };
}

/**
 * With these keys too, from when they were made on, as their requests say; never from a time to come, nor from before the
 * list before: a request that is dated back would let a new key sign for the past.
 */
export function withKeys(list: KeyList, requests: readonly Requested[], now: Date): KeyList {
  const known = new Set(list.keys.map(({ fingerprint }) => fingerprint));
  const added = requests
    .filter(({ fingerprint }) => !known.has(fingerprint))
    .map(({ role, name, fingerprint, publicKey, madeAt }) => ({
      role,
      name,
      fingerprint,
      publicKey,
      from: new Date(Math.min(Math.max(Date.parse(madeAt), Date.parse(list.issuedAt)), now.getTime())).toISOString(),
    }));
  return next(list, [...list.keys, ...added], now);
}

/** What this key signed since then counts no more. A revocation is never taken back, only moved to an earlier time. */
export function withRevoked(
  list: KeyList,
  fingerprint: Digest,
  since: Date,
  reason: string | undefined,
  now: Date,
): KeyList {
  const revoke = <E extends { revokedSince?: string | undefined }>(entry: E) => {
    const before = entry.revokedSince;
    const at = before !== undefined && Date.parse(before) < since.getTime() ? before : since.toISOString();
    return { ...entry, revokedSince: at, ...(reason === undefined ? {} : { reason }) };
  };
  const { retiredRoots = [] } = list;
  if (!retiredRoots.some((one) => one.fingerprint === fingerprint))
    return next(list, replaced(list, revoke(entryOf(list, fingerprint))), now);
  const roots = retiredRoots.map((one) => (one.fingerprint === fingerprint ? revoke(one) : one));
  return next({ ...list, retiredRoots: roots }, list.keys, now);
}

/** What this key signed after that time counts no more; what it signed before still does. Only moved to an earlier time. */
export function withUntil(list: KeyList, fingerprint: Digest, until: Date, now: Date): KeyList {
  const entry = entryOf(list, fingerprint);
  const isEarlier = entry.until !== undefined && Date.parse(entry.until) <= until.getTime();
  return next(list, replaced(list, isEarlier ? entry : { ...entry, until: until.toISOString() }), now);
}

/** One key in the place of another of the same process, which signs no more from now on. */
export function withSuccessor(list: KeyList, fingerprint: Digest, successor: Requested, now: Date): KeyList {
  const { role, name } = entryOf(list, fingerprint);
  if (successor.role !== role || successor.name !== name)
    throw new HotcellError(
      'conflict',
      `${successor.fingerprint} is a key of ${successor.role} ${successor.name}, and ${fingerprint} one of ${role} ${name}. A key is replaced by one of the same process; list another one with ./hotcell key sign-list.`,
    );
  return { ...withUntil(withKeys(list, [successor], now), fingerprint, now, now), number: list.number + 1 };
}

const replaced = (list: KeyList, entry: ListedKey) =>
  list.keys.map((key) => (key.fingerprint === entry.fingerprint ? entry : key));

function entryOf(list: KeyList, fingerprint: Digest): ListedKey {
  const entry = list.keys.find((key) => key.fingerprint === fingerprint);
  if (entry) return entry;
  throw new HotcellError('not_found', `The list has no key ${fingerprint}. ./hotcell key ls shows those it has.`);
}
