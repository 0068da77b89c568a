import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import { doneMarker } from '@hotcell/record/done-marker.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { CancelMark } from '@hotcell/contract/heartbeats.ts';
import { OpenMarker } from '@hotcell/record/schemas.ts';
import { Result } from '@hotcell/contract/result.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { Queues } from '@hotcell/outside/queue/queue.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { type CommitDeps, commitUnrun, nothingRan } from './refuse.ts';

export interface CancelDeps extends CommitDeps {
  queues: Queues;
}

export interface CancelAsked {
  tenant: string;
  run: RunId;
  /** Who, as the result will say it. */
  by: string;
  reason: string;
}

/**
 * The mark in the bucket comes before the answer: whatever dies then, the next who looks at the run finds it. A run that
 * nobody has begun is finished here and now, rather than when its ticket's turn comes.
 */
export async function cancelRun(deps: CancelDeps, asked: CancelAsked): Promise<'cancelled' | 'cancelling'> {
  const { store, log } = deps;
  const { tenant, run } = asked;
  if (await store.head(store.record, recordKeys.result(tenant, run))) throw finishedAlready(run);
  if (!(await store.head(store.work, workKeys.open(tenant, run))))
    throw new HotcellError('not_found', `there is no run ${run}`);
  const mark = await putMark(store, asked);
  crashPoint('cancel.marked');
  await deps.live.cancel(mark).catch((error: unknown) => {
    log.warn({ run, error }, 'cancelled in the bucket; the worker will read it there when Valkey is back');
  });
  const finished = (await isClaimed(store, run)) ? undefined : await finishUnbegun(deps, mark);
  if (finished) return 'cancelled';
  const result = await store.getJson(Result, store.record, recordKeys.result(tenant, run));
  if (!result) return 'cancelling';
  await askForCleaning(store, result);
  if (result.outcome !== 'cancelled') throw finishedAlready(run);
  return 'cancelled';
}

function finishedAlready(run: RunId): HotcellError {
  return new HotcellError('finished_already', `the run ${run} is finished already: ./hotcell show ${run}`);
}

/** The first who cancels is the one that the result names. */
async function putMark(store: Buckets, { tenant, run, by, reason }: CancelAsked): Promise<CancelMark> {
  const mark: CancelMark = { version: 1, run, tenant, by, reason, at: new Date().toISOString() };
  if (await store.putIfAbsent(store.work, workKeys.cancel(run), canonical(mark))) return mark;
  return (await store.getJson(CancelMark, store.work, workKeys.cancel(run))) ?? mark;
}

async function isClaimed(store: Buckets, run: RunId): Promise<boolean> {
  for await (const _ of store.list(store.work, workKeys.claims(run), { pageSize: 1 })) return true;
  return false;
}

/** Should a worker claim it in this moment: the put-if-absent of the result decides between us. */
async function finishUnbegun(deps: CancelDeps, mark: CancelMark): Promise<boolean> {
  const { store, queues, log } = deps;
  const { tenant, run } = mark;
  const spec = await store.getJson(Spec, store.record, recordKeys.spec(tenant, run));
  if (!spec) return false;
  const { acceptedAt, requester, labels, policy, image, runtime, warnings } = spec;
  const done = await commitUnrun(deps, {
    ...nothingRan(acceptedAt, new Date().toISOString()),
    run,
    tenant,
    outcome: 'cancelled',
    reason: `cancelled by ${mark.by}: ${mark.reason}`,
    spec: sha256(canonical(spec)),
    policy,
    image,
    runtime,
    inputs: spec.inputs.map(({ name, snapshot, locations }) => ({ name, snapshot, locations })),
    labels,
    requester,
    warnings,
  });
  const marker = await store.getJson(OpenMarker, store.work, workKeys.open(tenant, run));
  if (marker)
    await queues.remove(marker.queue, run).catch((error: unknown) => {
      log.info({ run, error }, 'its ticket stays in the queue until a worker sees that the run is finished');
    });
  return done;
}

/** The mark came when the run was finished already, and its markers perhaps removed: this has them removed again. */
async function askForCleaning(store: Buckets, result: Result): Promise<void> {
  const { run, tenant } = result;
  await store.put(store.work, workKeys.done(tenant, run), canonical(doneMarker(result)));
}
