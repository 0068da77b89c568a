import { canonical, type Digest } from '@hotcell/contract/digest.ts';
import type { Policy, PolicyRevocation } from '@hotcell/contract/policy.ts';
import type { Buckets } from './buckets.ts';
import { objects } from './objects.ts';
import { putByDigest, putFirst } from './read-write.ts';

export function putPolicy(store: Buckets, policy: Policy, digest: Digest): Promise<void> {
  return putByDigest(store, objects.policy, canonical(policy), digest);
}

export function putSeccomp(store: Buckets, digest: Digest, text: string): Promise<void> {
  return putByDigest(store, objects.seccomp, text, digest);
}

export function putPreload(store: Buckets, digest: Digest, text: string): Promise<void> {
  return putByDigest(store, objects.preload, text, digest);
}

export function putImageReport(store: Buckets, digest: Digest, text: string): Promise<void> {
  return putByDigest(store, objects.imageReport, text, digest);
}

/** The first revocation of a text is the one that counts: answers the one that stands. */
export function putRevocation(store: Buckets, revocation: PolicyRevocation): Promise<PolicyRevocation> {
  return putFirst(store, objects.revocation, revocation, revocation.policy);
}
