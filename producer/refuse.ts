import { canonical } from '@hotcell/contract/digest.ts';
import { doneMarker } from '@hotcell/record/done-marker.ts';
import type { Issue } from '@hotcell/contract/errors.ts';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { nothingUsed, type Result } from '@hotcell/contract/result.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';

export interface CommitDeps {
  store: Buckets;
  live: Live;
  log: Logger;
}

export interface Refused {
  tenant: string;
  requester: Result['requester'];
  labels: Result['labels'];
  policy: Result['policy'];
  /** Every reason at once. */
  reasons: readonly Issue[];
}

/** A refusal of somebody known is a record like any other: an id, an outcome, and why. */
export async function refuse(deps: CommitDeps, asked: Refused): Promise<Result> {
  const at = new Date().toISOString();
  const result: Result = {
    ...nothingRan(at, at),
    run: newRunId(),
    tenant: asked.tenant,
    outcome: 'rejected',
    reason: `refused: ${asked.reasons.map((reason) => `${reason.path}: ${reason.message}`).join('; ')}`,
    spec: null,
    policy: asked.policy,
    labels: asked.labels,
    requester: asked.requester,
    errors: [...asked.reasons],
  };
  await commitUnrun(deps, result);
  return result;
}

/** What the result of a run says that never had a cell. */
export function nothingRan(acceptedAt: string, finishedAt: string) {
  return {
    version: 1,
    status: 'finished',
    exitCode: null,
    blocks: [],
    image: null,
    runtime: null,
    inputs: [],
    limits: null,
    usage: nothingUsed,
    outputs: { snapshot: null, files: [], refused: [] },
    logs: { sha256: null, bytes: 0, truncated: false },
    posture: null,
    attempts: [],
    timings: {
      acceptedAt,
      finishedAt,
      queuedMs: Math.max(0, Date.parse(finishedAt) - Date.parse(acceptedAt)),
      stagedMs: 0,
      sealedMs: 0,
      ranMs: 0,
      committedMs: 0,
      warm: false,
    },
    warnings: [],
  } satisfies Partial<Result>;
}

/** True if this result is the run's; false if another one was committed before. */
export async function commitUnrun(deps: CommitDeps, result: Result): Promise<boolean> {
  const { store } = deps;
  const { tenant, run } = result;
  const text = canonical(result);
  const key = recordKeys.result(tenant, run);
  if (!(await store.putIfAbsent(store.record, key, text, { contentType: 'application/json' }))) {
    // Our own put, whose answer was lost, left our own bytes there.
    const there = await store.getBytes(store.record, key);
    if (!there?.equals(Buffer.from(text))) return false;
  }
  await store.put(store.work, workKeys.done(tenant, run), canonical(doneMarker(result)));
  const { outcome, timings } = result;
  await deps.live
    .finished({ type: 'status', run, tenant, status: 'finished', outcome, at: timings.finishedAt })
    .catch((error: unknown) => deps.log.warn({ run, error }, 'finished; whoever waits will find out by looking'));
  return true;
}
