import { checkedBytes } from '@hotcell/contract/checked-bytes.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Retention } from '@hotcell/contract/retention.ts';
import type { SessionRecord, StepRecord, StepResult } from '@hotcell/contract/session/step.ts';
import type { Buckets } from './buckets.ts';
import type { AttemptPlace } from './layout.ts';
import { lockFor } from './lock-for.ts';
import { objects } from './objects.ts';
import { putFirstKept, readStored } from './read-write.ts';

export interface Kept<T> {
  value: T;
  digest: Digest;
}

/** The link of this number, whose place and content must fit each other. */
export async function readStep(
  store: Buckets,
  tenant: string,
  run: RunId,
  index: number,
): Promise<Kept<StepRecord> | undefined> {
  const found = await readStored(store, objects.step, tenant, run, index);
  if (!found) return undefined;
  const { run: named, tenant: owner, index: number } = found.value;
  if (named !== run || owner !== tenant || number !== index)
    throw new HotcellError('record_damaged', `The key of step ${index} of run ${run} holds another step.`);
  return { value: found.value, digest: found.digest };
}

/** What stands there then: this link, or the one that was first. */
export async function putStep(
  store: Buckets,
  retention: Retention | undefined,
  step: StepRecord,
): Promise<Kept<StepRecord>> {
  return await putFirstKept(store, objects.step, retention, step, step.tenant, step.run, step.index);
}

export async function putSession(
  store: Buckets,
  retention: Retention | undefined,
  session: SessionRecord,
): Promise<SessionRecord> {
  return (await putFirstKept(store, objects.session, retention, session, session.tenant, session.run)).value;
}

export async function readSession(store: Buckets, tenant: string, run: RunId): Promise<SessionRecord | undefined> {
  return (await readStored(store, objects.session, tenant, run))?.value;
}

export async function readStepResult(
  store: Buckets,
  { tenant, run, ...place }: Pick<SessionRecord, 'tenant' | 'run'> & AttemptPlace,
  index: number,
): Promise<Kept<StepResult> | undefined> {
  const found = await readStored(store, objects.stepResult, tenant, run, place, index);
  if (!found) return undefined;
  if (found.value.run !== run || found.value.index !== index)
    throw new HotcellError('record_damaged', `The key of the result of step ${index} of run ${run} holds another one.`);
  return { value: found.value, digest: found.digest };
}

/** The bytes at one of these places, as they come. Those of another digest never arrive whole. */
export async function openStepPart(
  store: Buckets,
  { tenant, run, ...place }: Pick<SessionRecord, 'tenant' | 'run'> & AttemptPlace,
  { index, part, sha256 }: { index: number; part: number | 'log'; sha256: Digest },
  signal?: AbortSignal,
): Promise<AsyncGenerator<Buffer>> {
  const key = objects.stepPart.key(tenant, run, place, index, part);
  const damaged = () => new HotcellError('record_damaged', `${key} is not what the step's result names.`);
  const found = await store.get(store.record, key, signal ? { signal } : {});
  if (!found) throw damaged();
  return checkedBytes(found.body as AsyncIterable<Buffer>, sha256, damaged);
}

export interface OfSession extends AttemptPlace {
  tenant: string;
  run: RunId;
  retention?: Retention | undefined;
}

export async function putStepResult(
  store: Buckets,
  { tenant, run, retention, ...place }: OfSession,
  result: StepResult,
): Promise<Kept<StepResult>> {
  return await putFirstKept(store, objects.stepResult, retention, result, tenant, run, place, result.index);
}

/** Of one claim, so only its owner puts here: what stands there already is its own. */
export async function putStepPart(
  store: Buckets,
  { tenant, run, retention, ...place }: OfSession,
  at: { index: number; part: number | 'log' },
  bytes: Uint8Array,
): Promise<void> {
  const key = objects.stepPart.key(tenant, run, place, at.index, at.part);
  await store.putIfAbsent(store.record, key, bytes, { lock: lockFor(objects.stepPart, retention) });
}
