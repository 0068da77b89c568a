import { judgeSpec } from '@hotcell/contract/admission.ts';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import type { CancelMark } from '@hotcell/contract/heartbeats.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { queueOf } from '@hotcell/contract/policy.ts';
import type { Buckets } from './buckets.ts';
import { readPolicyText } from './pinned-policies.ts';
import { findSpec } from './run-spec.ts';
import { markerOf, workKeys } from './layout.ts';
import { objects } from './objects.ts';
import type { IdempotencyMark, OpenMarker } from './schemas.ts';
import { has, isDamaged, putFirst, readMark, readValue } from './read-write.ts';

/** Open and done markers lie in so many folders, each of which can be looked through alone. */
export { allShards } from './layout.ts';

/** The promise: from here on the run ends in a result, whatever dies. */
export async function putOpenMarker(store: Buckets, marker: OpenMarker): Promise<void> {
  await putFirst(store, objects.open, marker, marker.tenant, marker.run);
}

/** One that cannot be read is made again from the run's spec and policy: its key is the promise. */
export async function readOpenMarker(store: Buckets, tenant: string, run: RunId): Promise<OpenMarker | undefined> {
  let damage: HotcellError | undefined;
  const remember = ({ error }: { error: HotcellError }) => {
    damage = error;
    return undefined;
  };
  const marker = await readMark(store, objects.open, remember, tenant, run);
  return damage ? await markerFromSpec(store, tenant, run, damage) : marker;
}

async function markerFromSpec(store: Buckets, tenant: string, run: RunId, damage: HotcellError): Promise<OpenMarker> {
  const found = await findSpec(store, tenant, run);
  if (!found) throw damage;
  const { priority, acceptedAt, notBefore } = found.spec;
  const { policy } = await readPolicyText(store, found.spec.policy.digest);
  const judged = judgeSpec(found.spec, policy);
  return {
    version: 1,
    run,
    tenant,
    spec: found.digest,
    queue: queueOf(policy),
    priority,
    ...(judged.admitted && { cpus: judged.effective.limits.cpus }),
    acceptedAt,
    ...(notBefore ? { notBefore } : {}),
  };
}

export function isOpen(store: Buckets, tenant: string, run: RunId): Promise<boolean> {
  return has(store, objects.open, tenant, run);
}

/** The open runs of a shard, in the order of their tenants and ids. A short page is parsed without holding up others. */
export async function* openRuns(store: Buckets, shard: string): AsyncGenerator<{ tenant: string; run: RunId }> {
  for await (const { key } of store.list(store.work, workKeys.openShard(shard), { pageSize: 200 })) {
    const marked = markerOf(key);
    if (marked) yield marked;
    else store.unreadable(new HotcellError('record_damaged', `${store.work}/${key} names no run.`));
  }
}

/** Throws when the store does not answer: a failure that this one follows was not that run's own. */
export async function reachMarks(store: Buckets): Promise<void> {
  for await (const _ of store.list(store.work, workKeys.openShard('0'), { pageSize: 1 })) return;
}

/** The first caller who cancels is the one that the result names: answers the mark that stands. */
export async function putCancelMark(store: Buckets, mark: CancelMark): Promise<CancelMark> {
  try {
    return await putFirst(store, objects.cancel, mark, mark.run);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    return (await readCancelMark(store, mark.run)) ?? mark;
  }
}

/** One that cannot be read cancels the run as well: only a cancel is put under its key. */
export function readCancelMark(store: Buckets, run: RunId): Promise<CancelMark | undefined> {
  const instead = ({ modified }: { modified: Date }): CancelMark => ({
    version: 1,
    run,
    tenant: 'unknown',
    by: 'unknown',
    reason: 'the mark that says why cannot be read',
    at: modified.toISOString(),
  });
  return readMark(store, objects.cancel, instead, run);
}

/** The marks that were put since then. */
export async function* cancelMarks(store: Buckets, sinceMs: number): AsyncGenerator<CancelMark> {
  const prefix = workKeys.cancel('');
  for await (const { key, modified } of store.list(store.work, prefix)) {
    if (modified && modified.getTime() < sinceMs) continue;
    const run = RunId.safeParse(key.slice(prefix.length));
    const mark = run.success ? await readCancelMark(store, run.data) : undefined;
    if (mark) yield mark;
  }
}

/** Answers the mark that stands: the first request with a key decides which run it names. */
export function putIdempotencyMark(store: Buckets, key: string, mark: IdempotencyMark): Promise<IdempotencyMark> {
  return putFirst(store, objects.idempotency, mark, mark.tenant, nameOf(key));
}

export function readIdempotencyMark(store: Buckets, tenant: string, key: string): Promise<IdempotencyMark | undefined> {
  return readValue(store, objects.idempotency, tenant, nameOf(key));
}

/** The client chose the key's letters: hashed, it is a name that every store takes. */
const nameOf = (key: string) => hexOf(sha256(key));
