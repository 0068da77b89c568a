import type { Digest } from '../digest.ts';
import type { KeyList, RetiredRoot } from './key-list.ts';
import { VerifyingKey } from './signing-key.ts';

/**
 * With the root that signed the list before, for the one that signs it next. A root's first retirement stays: a second
 * one must not give it more time.
 */
export function withRetiredRoot(list: KeyList, before: VerifyingKey | undefined, until = list.issuedAt): KeyList {
  const { retiredRoots = [] } = list;
  if (!before || retiredRoots.some(({ fingerprint }) => fingerprint === before.fingerprint)) return list;
  const { fingerprint, pem: publicKey } = before;
  return { ...list, retiredRoots: [...retiredRoots, { fingerprint, publicKey, until }] };
}

/** As this root signs it: the one that signs a list is not retired. */
export function asSignedBy(root: Digest, { retiredRoots = [], ...list }: KeyList): KeyList {
  const others = retiredRoots.filter(({ fingerprint }) => fingerprint !== root);
  return { ...list, ...(others.length > 0 ? { retiredRoots: others } : {}) };
}

/** A key whose word on an erasure counts, and for how long it did. */
export interface Eraser {
  key: VerifyingKey;
  retired?: Pick<RetiredRoot, 'until' | 'revokedSince'>;
}

/** The roots that a verifier brought along, and those that came before, as one of them says by its list. */
export function erasersOf(
  roots: readonly VerifyingKey[],
  { retiredRoots = [] }: Pick<KeyList, 'retiredRoots'>,
): Eraser[] {
  const retired = new Map(retiredRoots.map((one) => [one.fingerprint, one]));
  const before = retiredRoots.map(
    ({ publicKey, fingerprint }) => new VerifyingKey(publicKey, `retired root ${fingerprint}`),
  );
  // One that is trusted still and was retired counts as retired: its time is over all the same.
  return [...roots.filter(({ fingerprint }) => !retired.has(fingerprint)), ...before].map((key) => {
    const said = retired.get(key.fingerprint);
    return said ? { key, retired: said } : { key };
  });
}
