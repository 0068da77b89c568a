import { canonical, type Digest, hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import { newRunId, type RunId } from '@hotcell/contract/names.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { IdempotencyMark, OpenMarker } from '@hotcell/record/schemas.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { Bounds } from './queue-bounds.ts';
import { type EnqueueDeps, enqueue } from './enqueue.ts';

export interface AcceptDeps extends EnqueueDeps {
  store: Buckets;
  bounds: Bounds;
}

export interface Asked {
  spec: Omit<Spec, 'run' | 'acceptedAt'>;
  queue: string;
  idempotency?: { key: string; body: Digest } | undefined;
}

export interface Accepted {
  run: RunId;
  spec: Spec;
  /** This request was accepted before: the run is the one of then. */
  already: boolean;
}

/**
 * The promise begins with the open marker. Whatever dies before it leaves a spec that nobody was promised anything
 * about; whatever dies after it leaves a run that recovery finds. So the order is: what is to be run, the promise, the
 * ticket; and a ticket that cannot be queued now does not take the promise back.
 */
export async function accept(deps: AcceptDeps, asked: Asked): Promise<Accepted> {
  const mark = await claimKey(deps, asked);
  const written = await writeSpec(deps, asked, mark);
  crashPoint('accept.spec');
  const begun = mark.repeated && (await hasBegun(deps, written.spec));
  if (!begun) {
    const marker = markerOf(asked.queue, written);
    await deps.store.putIfAbsent(deps.store.work, workKeys.open(marker.tenant, marker.run), canonical(marker));
    crashPoint('accept.open');
    await queueIfPossible(deps, marker, {});
    crashPoint('accept.queued');
  }
  return { run: written.spec.run, spec: written.spec, already: mark.repeated && begun };
}

/** The run that was accepted for this key before, if one was; an acceptance that died half way is none yet. */
export async function earlier(
  deps: AcceptDeps,
  asked: { tenant: string; key: string; body: Digest },
): Promise<{ run: RunId } | undefined> {
  const { store } = deps;
  const found = await store.getJson(IdempotencyMark, store.work, keyOf(asked.tenant, asked.key));
  if (!found) return undefined;
  const { run } = repeated(found, asked.body);
  return (await hasBegun(deps, found)) ? { run } : undefined;
}

/** The client chose the key's letters: hashed, it is a name that every store takes. */
function keyOf(tenant: string, key: string): string {
  return workKeys.idempotency(tenant, hexOf(sha256(key)));
}

interface Claimed {
  run: RunId;
  at: string;
  repeated: boolean;
}

/** With a key, the run's id is decided by the first who came with it; a second one completes what he finds. */
async function claimKey(deps: AcceptDeps, asked: Asked): Promise<Claimed> {
  const { store } = deps;
  const fresh: Claimed = { run: newRunId(), at: new Date().toISOString(), repeated: false };
  if (!asked.idempotency) {
    await deps.bounds.check(asked.queue);
    return fresh;
  }
  const at = keyOf(asked.spec.tenant, asked.idempotency.key);
  const found = await store.getJson(IdempotencyMark, store.work, at);
  if (found) return repeated(found, asked.idempotency.body);
  await deps.bounds.check(asked.queue);
  const { run } = fresh;
  const mark = { version: 1, run, tenant: asked.spec.tenant, body: asked.idempotency.body, at: fresh.at };
  if (await store.putIfAbsent(store.work, at, canonical(mark))) {
    crashPoint('accept.marked');
    return fresh;
  }
  // Somebody was faster; or it was we, and the answer was lost.
  const first = await store.getJson(IdempotencyMark, store.work, at);
  if (!first) throw new HotcellError('conflict', 'the idempotency key was removed while it was used: ask again');
  return first.run === run ? fresh : repeated(first, asked.idempotency.body);
}

function repeated(mark: IdempotencyMark, body: Digest): Claimed {
  if (mark.body !== body)
    throw new HotcellError(
      'idempotency_mismatch',
      `this idempotency key was used for another request (run ${mark.run}): use a new key, or send the same request`,
      { extra: { run: mark.run } },
    );
  return { run: mark.run, at: mark.at, repeated: true };
}

interface Written {
  spec: Spec;
  digest: Digest;
}

/** The first spec that is written for a run is its spec. */
async function writeSpec(deps: AcceptDeps, asked: Asked, mark: Claimed): Promise<Written> {
  const { store } = deps;
  const spec = parseAs(Spec, { ...asked.spec, run: mark.run, acceptedAt: mark.at }, 'the spec');
  const key = recordKeys.spec(spec.tenant, spec.run);
  if (mark.repeated) {
    const found = await store.getJson(Spec, store.record, key);
    if (found) return { spec: found, digest: sha256(canonical(found)) };
  }
  const text = canonical(spec);
  if (await store.putIfAbsent(store.record, key, text, { contentType: 'application/json' }))
    return { spec, digest: sha256(text) };
  const first = await store.getJson(Spec, store.record, key);
  if (!first) throw new HotcellError('conflict', `${key} was there, and is not any more: ask again`);
  return { spec: first, digest: sha256(canonical(first)) };
}

/**
 * Open, or finished. The marker is looked at first: it is only removed once the result is there. What is open may have
 * died before it was queued, so it is queued again, which changes nothing if it was.
 */
async function hasBegun(deps: AcceptDeps, { tenant, run }: { tenant: string; run: RunId }): Promise<boolean> {
  const { store } = deps;
  const open = await store.getJson(OpenMarker, store.work, workKeys.open(tenant, run));
  if (open) await queueIfPossible(deps, open, { again: true });
  return open !== undefined || (await store.head(store.record, recordKeys.result(tenant, run))) !== undefined;
}

/** A ticket that cannot be queued now is no reason to say no: recovery makes it when Valkey is back. */
async function queueIfPossible(deps: AcceptDeps, marker: OpenMarker, options: { again?: true }): Promise<void> {
  await enqueue(deps, marker, options).catch((error: unknown) => {
    deps.log.warn({ run: marker.run, error }, 'accepted, but not queued yet: recovery will queue it');
  });
}

function markerOf(queue: string, { spec, digest }: Written): OpenMarker {
  return {
    version: 1,
    run: spec.run,
    tenant: spec.tenant,
    spec: digest,
    queue,
    priority: spec.priority,
    acceptedAt: spec.acceptedAt,
    ...(spec.notBefore ? { notBefore: spec.notBefore } : {}),
  };
}
