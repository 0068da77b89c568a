import { admit } from '@hotcell/contract/admission.ts';
import type { BatchRequest } from '@hotcell/contract/api/batches.ts';
import { itemRequest, judgeItemRequest } from '@hotcell/contract/batch-items.ts';
import { judgeListed, tooLarge } from '@hotcell/contract/batch-sizes.ts';
import type { BatchHead, BatchOver } from '@hotcell/contract/batch.ts';
import { HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { showIssues } from '@hotcell/contract/parse.ts';
import { readRunRequest } from '@hotcell/contract/read-request.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { markBatchOpen, putBatch } from '@hotcell/record/batch-records.ts';
import { pinned, policyOf } from '../ask.ts';
import type { Caller } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import { resolveInput } from '../snapshots/resolve.ts';
import { reasonOf } from '../snapshots/resolve-inputs.ts';
import { sourceForm } from '../snapshots/source.ts';
import { requireRoom, takeBatchPlace } from './batch-places.ts';
import { tellBatchLeader } from './change-batch.ts';

/** Its place comes first, then the head, then the mark that promises that a leader goes on with it. */
export async function makeBatch(producer: Producer, caller: Caller, asked: BatchRequest): Promise<BatchHead> {
  const { store } = producer;
  const { tenant, key, role } = caller;
  await requireRoom(store, tenant);
  const { request, policy, image } = await judge(producer, caller, asked);
  const { over, name, parallel = 10, onFailure = 'continue', publish } = asked;
  const source = sourceOf(over);
  const at = new Date().toISOString();
  const head: BatchHead = {
    ...{ version: 1, tenant, batch: newRunId(), createdAt: at, author: { key, role }, over, request, policy, image },
    ...(name !== undefined && { name }),
    ...(source !== undefined && { pinned: await pinSource(producer, tenant, source) }),
    rules: { parallel, onFailure, ...(publish !== undefined && { publish }) },
    rounds: [{ at, by: key, key, carried: 0 }],
  };
  await takeBatchPlace(store, head, false);
  await putBatch(store, head, undefined);
  crashPoint('batch.made');
  await takeBatchPlace(store, head, true);
  await markBatchOpen(store, { ...head, round: 0 });
  crashPoint('batch.marked');
  await tellBatchLeader(producer, head);
  return head;
}

/** What holds for every item; inputs are looked at when each begins. */
async function judge(producer: Producer, caller: Caller, { run, over }: BatchRequest) {
  const read = readRunRequest(run);
  if ('issues' in read) throw invalid(inRun(read.issues));
  const { request } = read;
  const issues = [...inRun([...judgeItemRequest(request, over), ...tooLarge(request)]), ...judgeListed(request, over)];
  if (issues.length > 0) throw invalid(issues);
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
  return { request, policy: { name, digest: policy.digest }, image: verdict.effective.image };
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
