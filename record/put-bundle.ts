import { randomUUID } from 'node:crypto';
import type { Digest } from '@hotcell/contract/digest.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Retention } from '@hotcell/contract/retention.ts';
import type { Buckets } from './buckets.ts';
import type { AttemptPlace } from './layout.ts';
import { lockFor } from './lock-for.ts';
import type { objects } from './objects.ts';

interface BundleAt {
  tenant: string;
  run: RunId;
  place: AttemptPlace;
}

/**
 * Puts evidence before the object that names it. What stands at its place already can only be from an earlier try of
 * the same attempt, whose object may stand as well: then this one gets a place of its own.
 */
export async function putBundle(
  store: Buckets,
  kind: (typeof objects)['evidence' | 'attemptEvidence'],
  { tenant, run, place }: BundleAt,
  { text, digest }: { text: string; digest: Digest },
  retention: Retention | undefined,
): Promise<{ bundle: string; sha256: Digest }> {
  const options = { contentType: 'application/json', lock: lockFor(kind, retention) };
  for (let at = place; ; at = { attempt: place.attempt, claim: randomUUID() }) {
    const key = kind.key(tenant, run, at);
    const isOurs =
      (await store.putIfAbsent(store.record, key, text, options)) ||
      (await store.getBytes(store.record, key))?.equals(Buffer.from(text));
    if (isOurs) return { bundle: key, sha256: digest };
  }
}
