import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { OpenMarker } from '@hotcell/contract/records.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import type { RunStatus } from '@hotcell/contract/result.ts';
import type { RunView, Waiting } from '@hotcell/contract/run-view.ts';
import type { Parts } from './producer-parts.ts';
import { unknown, waitingOf } from './waiting.ts';

/** An id as somebody said it; what is none names no run, whatever it is. */
export function runIdOf(said: string): RunId {
  const parsed = RunId.safeParse(said);
  if (!parsed.success) throw noSuchRun(said);
  return parsed.data;
}

export function noSuchRun(run: string): HotcellError {
  return new HotcellError('not_found', `there is no run ${run} here: ./hotcell ls lists those there are`);
}

/** What is known of a run: its result if it has one, else what was asked and how far it is. */
export async function viewOf(parts: Parts, tenant: string, run: RunId): Promise<RunView> {
  const result = await parts.news.resultOf(tenant, run);
  if (result) return result;
  const [marker, spec] = await Promise.all([openMarker(parts, tenant, run), specOf(parts, tenant, run)]);
  // It may have been committed, and its marker removed, between the two looks.
  if (!marker || !spec) return (await parts.news.resultOf(tenant, run)) ?? throwIt(noSuchRun(run));
  const { acceptedAt, policy, image, runtime, labels, requester, warnings } = spec;
  const { status, waiting } = await progressOf(parts, marker);
  return {
    run,
    tenant,
    status,
    ...(waiting && { waiting }),
    acceptedAt,
    spec: marker.spec,
    policy,
    image,
    runtime,
    inputs: spec.inputs.map(({ name, snapshot, locations }) => ({ name, snapshot, locations })),
    labels,
    requester,
    warnings,
  };
}

function throwIt(error: Error): never {
  throw error;
}

export async function specOf(parts: Parts, tenant: string, run: RunId): Promise<Spec | undefined> {
  return await parts.store.getJson(Spec, parts.store.record, recordKeys.spec(tenant, run));
}

async function openMarker(parts: Parts, tenant: string, run: RunId): Promise<OpenMarker | undefined> {
  return await parts.store.getJson(OpenMarker, parts.store.work, workKeys.open(tenant, run));
}

export interface Progress {
  status: Exclude<RunStatus, 'finished'>;
  waiting?: Waiting | undefined;
}

/** How far an open run is. Whatever Valkey cannot say, it is accepted, and waits. */
async function progressOf(parts: Parts, marker: OpenMarker): Promise<Progress> {
  try {
    const [beat] = await parts.live.statusesOf([marker.run]);
    if (beat && beat.status !== 'queued') return { status: beat.status };
    return { status: 'queued', waiting: await waitingOf(parts, { run: marker.run, queue: marker.queue }) };
  } catch (error) {
    if (!(error instanceof HotcellError && error.code === 'queue_unavailable')) throw error;
    return { status: 'queued', waiting: unknown };
  }
}

/** The same for one who follows it: undefined when there is nothing more to follow. */
export async function progressNow(parts: Parts, tenant: string, run: RunId): Promise<Progress | undefined> {
  if (await parts.news.resultOf(tenant, run)) return undefined;
  const marker = await openMarker(parts, tenant, run);
  return marker ? await progressOf(parts, marker) : undefined;
}
