import { admit } from '@hotcell/contract/admission.ts';
import type { BatchRequest } from '@hotcell/contract/api/batches.ts';
import { itemRequest, judgeItemRequest } from '@hotcell/contract/batch-items.ts';
import { judgeListed, tooLarge } from '@hotcell/contract/batch-sizes.ts';
import type { BatchHead, BatchOver } from '@hotcell/contract/batch.ts';
import { HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { showIssues } from '@hotcell/contract/parse.ts';
import { readRunRequest } from '@hotcell/contract/read-request.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import { putBatch, readBatch } from '@hotcell/record/batch-records.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { pinned, policyOf } from '../ask.ts';
import type { Caller } from '../auth/caller.ts';
import { claimMade, madeBefore } from '../keyed-request.ts';
import type { Producer } from '../producer.ts';
import { resolveInput } from '../snapshots/resolve.ts';
import { reasonOf } from '../snapshots/resolve-inputs.ts';
import { sourceForm } from '../snapshots/source.ts';
import { callbackKeysOf, judgeCallback } from '../webhooks/callbacks.ts';
import { requireFreeBatchSlot, takeBatchSlot } from './batch-slots.ts';
import { promiseRound, tellBatchLeader } from './change-batch.ts';

/**
 * Its slot comes first, then the head, then the mark that promises that a leader goes on with it. With a key, what was
 * made before stays made, whatever became of its policy and source since.
 */
export async function makeBatch(
  producer: Producer,
  caller: Caller,
  asked: BatchRequest,
  idempotencyKey: string | undefined,
): Promise<BatchHead> {
  const { store } = producer;
  const { tenant, key, role } = caller;
  const request = parsedRun(producer, asked);
  const keyed = { of: 'batch', tenant, key: idempotencyKey, request: { ...asked, run: request } } as const;
  const before = await madeBefore(store, keyed);
  const standing = before && (await readBatch(store, { tenant, batch: before.id }));
  if (standing) return await promised(producer, standing.value);
  await requireFreeBatchSlot(store, tenant);
  const { policy, image } = await judge(producer, caller, asked, request);
  const { over, name, parallel = 10, onFailure = 'continue', publish, callback } = asked;
  const source = sourceOf(over);
  const pinnedSource = source === undefined ? undefined : await pinSource(producer, tenant, source);
  const { id: batch, at } = before ?? (await claimMade(store, keyed));
  crashPoint('batch.named');
  const head: BatchHead = {
    ...{ version: 1, tenant, batch, createdAt: at, author: { key, role }, over, request, policy, image },
    ...(name !== undefined && { name }),
    ...(pinnedSource && { pinned: pinnedSource }),
    rules: { parallel, onFailure, ...(publish !== undefined && { publish }) },
    ...(callback !== undefined && { callback }),
    rounds: [{ at, by: key, key, carried: 0 }],
  };
  await takeBatchSlot(store, head);
  if (callback !== undefined) await callbackKeysOf(store, tenant);
  const stands = await putFirstHead(store, head);
  crashPoint('batch.made');
  return await promised(producer, stands);
}

async function promised(producer: Producer, head: BatchHead): Promise<BatchHead> {
  await promiseRound(producer.store, head);
  crashPoint('batch.marked');
  await tellBatchLeader(producer, head);
  return head;
}

/** The one that stands: a caller that repeats its request may have been faster, or the answer to this put be lost. */
async function putFirstHead(store: Buckets, head: BatchHead): Promise<BatchHead> {
  try {
    return (await putBatch(store, head, undefined)).value;
  } catch (error) {
    const standing = error instanceof PreconditionFailed ? await readBatch(store, head) : undefined;
    if (!standing) throw error;
    return standing.value;
  }
}

function parsedRun(producer: Producer, { run, over, callback }: BatchRequest): RunRequest {
  const read = readRunRequest(run);
  if ('issues' in read) throw invalid(inRun(read.issues));
  const { request } = read;
  const issues = [...inRun([...judgeItemRequest(request, over), ...tooLarge(request)]), ...judgeListed(request, over)];
  issues.push(...judgeCallback(producer, callback));
  if (issues.length > 0) throw invalid(issues);
  return request;
}

/** What holds for every item; inputs are looked at when each begins. */
async function judge(producer: Producer, caller: Caller, { over }: BatchRequest, request: RunRequest) {
  const { policy, issues: reasons } = policyOf(producer, request);
  const first = itemRequest({ batch: newRunId(), request, over }, 0, {});
  const verdict = policy && admit(first, policy.policy, caller, []);
  if (verdict?.admitted === false) reasons.push(...verdict.reasons);
  if (policy && reasons.length === 0) reasons.push(...(await pinned(producer, policy)));
  if (!policy || !verdict?.admitted || reasons.length > 0) {
    const all = inRun(reasons);
    throw new HotcellError('policy_refused', `No item of this batch could run: ${showIssues(all)}`, { issues: all });
  }
  const { name } = policy.policy;
  return { policy: { name, digest: policy.digest }, image: verdict.effective.image };
}

function invalid(issues: Issue[]): HotcellError {
  return new HotcellError('invalid', `The batch is invalid: ${showIssues(issues)}`, { issues });
}

const inRun = (issues: readonly Issue[]) =>
  issues.map(({ path, message }) => ({ path: path.startsWith('(') ? path : `run.${path}`, message }));

function sourceOf(over: BatchOver): string | undefined {
  if ('lines' in over) return over.lines;
  if ('csv' in over) return over.csv;
  if ('files' in over) return over.files;
  return 'partitions' in over ? over.partitions : undefined;
}

async function pinSource(producer: Producer, tenant: string, source: string) {
  try {
    if (sourceForm(source).kind === 's3')
      throw new HotcellError('invalid', 'A batch is over a snapshot. Freeze the prefix first: POST /v1/snapshots.');
    const { snapshot, locations } = await resolveInput(producer, tenant, source);
    return { snapshot, locations };
  } catch (error) {
    const issue = reasonOf(error, 'over');
    throw new HotcellError('invalid', `The batch is invalid: ${showIssues([issue])}`, { issues: [issue] });
  }
}
