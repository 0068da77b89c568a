import type { Digest } from '@hotcell/contract/digest.ts';
import { type Receipt, signReceipt } from '@hotcell/contract/evidence/receipt.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { newRunId, type RunId } from '@hotcell/contract/names.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { isCommitted } from '@hotcell/record/commit.ts';
import { putIdempotencyMark, putOpenMarker, readIdempotencyMark, readOpenMarker } from '@hotcell/record/run-marks.ts';
import { findReceipt, type PinnedSpec, putSpec } from '@hotcell/record/run-spec.ts';
import type { IdempotencyMark, OpenMarker } from '@hotcell/record/schemas.ts';
import type { Bounds } from './queue-bounds.ts';
import type { Quotas } from './quotas/quota-book.ts';
import { countWaiting } from './quotas/waiting-runs.ts';
import { type EnqueueDeps, enqueue } from './enqueue.ts';
import type { Signer } from '@hotcell/record/signer.ts';
import { proveLock } from '@hotcell/record/prove-lock.ts';

export interface AcceptDeps extends EnqueueDeps {
  store: Buckets;
  signer: Signer;
  bounds: Bounds;
  quotas: Pick<Quotas, 'of'>;
}

export interface Acceptable {
  spec: Omit<Spec, 'run' | 'acceptedAt'>;
  queue: string;
  /** What its policy gives it. */
  cpus?: number;
  idempotency?: { key: string; body: Digest } | undefined;
  /** The id that the run has in any case, because it follows from what asks for it. */
  run?: RunId | undefined;
}

export interface Accepted {
  run: RunId;
  receipt: Receipt;
  spec: Spec;
  /** This request was accepted before: the run is the one of then. */
  already: boolean;
}

/**
 * The promise begins with the open marker. A process that dies before it leaves a spec that no caller was promised
 * anything about; one that dies after it leaves a run that recovery finds. So the spec comes first, then the promise,
 * then the ticket; and a ticket that cannot be queued now does not take the promise back.
 */
export async function accept(deps: AcceptDeps, asked: Acceptable): Promise<Accepted> {
  const mark = await claimKey(deps, asked);
  let isPromised = mark.repeated;
  try {
    return await promise(deps, asked, mark, () => (isPromised = true));
  } catch (error) {
    if (!isPromised) await forget(deps, asked.spec.tenant, mark.run);
    throw error;
  }
}

async function promise(deps: AcceptDeps, asked: Acceptable, mark: KeyClaim, promised: () => void): Promise<Accepted> {
  const asNew = parseAs(Spec, { ...asked.spec, run: mark.run, acceptedAt: mark.at }, 'the spec');
  const pinned = await putSpec(deps.store, asNew, (spec, digest) => promiseOf(deps, spec, digest));
  const { spec, receipt } = pinned;
  await proveLock(deps.store, spec);
  crashPoint('accept.spec');
  // The spec comes before the marker: a run whose spec this call put first has no marker.
  const mayHaveBegun = mark.repeated || (asked.run !== undefined && !pinned.isFirst);
  const begun = mayHaveBegun && (await hasBegun(deps, spec));
  if (!begun) {
    const marker = markerOf(asked, pinned);
    await putOpenMarker(deps.store, marker);
    promised();
    crashPoint('accept.open');
    await queueIfPossible(deps, marker, {});
    crashPoint('accept.queued');
  }
  return { run: spec.run, spec, receipt, already: begun };
}

/** What the submitter can hold against us. */
function promiseOf({ signer, installation }: AcceptDeps, spec: Spec, digest: Digest): Receipt {
  const { run, tenant, acceptedAt } = spec;
  return signReceipt(signer.key, { installation, run, tenant, spec: digest, acceptedAt });
}

/** The run that an earlier request with this key was given; one whose acceptance broke off half way does not count. */
export async function earlier(
  deps: AcceptDeps,
  { tenant, key, body }: { tenant: string; key: string; body: Digest },
): Promise<{ run: RunId; receipt: Receipt | undefined } | undefined> {
  const found = await readIdempotencyMark(deps.store, tenant, key);
  if (!found) return undefined;
  const { run } = repeated(found, body);
  if (!(await hasBegun(deps, found))) return undefined;
  return { run, receipt: await findReceipt(deps.store, tenant, run) };
}

interface KeyClaim {
  run: RunId;
  at: string;
  repeated: boolean;
}

/** With a key, the first request decides the run's id; a later one completes what it finds of that run. */
async function claimKey(
  deps: AcceptDeps,
  { spec, queue, idempotency, run = newRunId() }: Acceptable,
): Promise<KeyClaim> {
  const { store, bounds } = deps;
  const found = idempotency && (await readIdempotencyMark(store, spec.tenant, idempotency.key));
  if (found) return repeated(found, idempotency.body);
  await bounds.check(queue);
  const fresh = { run, at: new Date().toISOString() };
  await countWaiting(deps, spec.tenant, fresh.run);
  if (!idempotency) return { ...fresh, repeated: false };
  const { key, body } = idempotency;
  const asked = { version: 1 as const, tenant: spec.tenant, body, ...fresh };
  const first = await putIdempotencyMark(store, key, asked).catch(async (error: unknown) => {
    await forget(deps, spec.tenant, fresh.run);
    throw error;
  });
  if (first.run !== fresh.run) {
    await forget(deps, spec.tenant, fresh.run);
    return repeated(first, body);
  }
  crashPoint('accept.marked');
  return { ...fresh, repeated: false };
}

/** A count that cannot be taken back now ends by itself. */
async function forget({ live }: AcceptDeps, tenant: string, run: RunId): Promise<void> {
  await live.tenants.forget(tenant, run).catch(() => undefined);
}

function repeated(mark: IdempotencyMark, body: Digest): KeyClaim {
  if (mark.body !== body)
    throw new HotcellError(
      'idempotency_mismatch',
      `This idempotency key was used for another request (run ${mark.run}). Use a new key, or send the same request.`,
      { extra: { run: mark.run } },
    );
  return { run: mark.run, at: mark.at, repeated: true };
}

/**
 * Open, or finished. The marker is read first: it is removed only once the result is there. An open run may not have
 * been queued before its producer died, so it is queued again, which changes nothing if it was.
 */
export async function hasBegun(deps: AcceptDeps, { tenant, run }: { tenant: string; run: RunId }): Promise<boolean> {
  const open = await readOpenMarker(deps.store, tenant, run);
  if (open) await queueIfPossible(deps, open, { recovered: true });
  return open !== undefined || (await isCommitted(deps.store, tenant, run));
}

/** A ticket that cannot be queued now is no reason to refuse the run: recovery makes one when Valkey is back. */
async function queueIfPossible(deps: AcceptDeps, marker: OpenMarker, options: { recovered?: true }): Promise<void> {
  await enqueue(deps, marker, options).catch((error: unknown) => {
    deps.log.warn({ run: marker.run, error }, 'accepted a run but failed to queue it; recovery will');
  });
}

function markerOf({ queue, cpus }: Acceptable, { spec, digest }: PinnedSpec): OpenMarker {
  const { run, tenant, priority, acceptedAt, notBefore } = spec;
  return { version: 1, run, tenant, spec: digest, queue, priority, cpus, acceptedAt, notBefore };
}
