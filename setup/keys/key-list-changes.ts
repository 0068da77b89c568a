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

/** With these keys too, from when they were made on, as their requests say; never from a time to come. */
export function withKeys(list: KeyList, requests: readonly Requested[], now: Date): KeyList {
  const known = new Set(list.keys.map(({ fingerprint }) => fingerprint));
  const added = requests
    .filter(({ fingerprint }) => !known.has(fingerprint))
    .map(({ role, name, fingerprint, publicKey, madeAt }) => ({
      role,
      name,
      fingerprint,
      publicKey,
      from: Date.parse(madeAt) < now.getTime() ? madeAt : now.toISOString(),
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
  const entry = entryOf(list, fingerprint);
  const before = entry.revokedSince;
  const at = before !== undefined && Date.parse(before) < since.getTime() ? before : since.toISOString();
  const revoked = { ...entry, revokedSince: at, ...(reason === undefined ? {} : { reason }) };
  return next(list, replaced(list, revoked), now);
}

const replaced = (list: KeyList, entry: ListedKey) =>
  list.keys.map((key) => (key.fingerprint === entry.fingerprint ? entry : key));

function entryOf(list: KeyList, fingerprint: Digest): ListedKey {
  const entry = list.keys.find((key) => key.fingerprint === fingerprint);
  if (entry) return entry;
  throw new HotcellError('not_found', `The list has no key ${fingerprint}. ./hotcell key ls shows those it has.`);
}
