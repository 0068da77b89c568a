import { HotcellError } from '@hotcell/contract/errors.ts';
import { refuseErased } from '@hotcell/record/erasures.ts';
import { readOpenMarker } from '@hotcell/record/run-marks.ts';
import { RunId } from '@hotcell/contract/names.ts';
import type { OpenMarker } from '@hotcell/record/schemas.ts';
import type { RunStatus } from '@hotcell/contract/result.ts';
import type { RunView } from '@hotcell/contract/api/runs.ts';
import type { Producer } from './producer.ts';
import { unknown, waitingOf } from './waiting.ts';

/** A malformed id is an unknown run. */
export function runIdOf(said: string): RunId {
  const parsed = RunId.safeParse(said);
  if (!parsed.success) throw noSuchRun(said);
  return parsed.data;
}

function noSuchRun(run: string): HotcellError {
  return new HotcellError('not_found', `Run ${run} not found. GET /v1/runs lists the runs.`);
}

/** A run's result if it has one, else its spec and how far it is. */
export async function viewOf(producer: Producer, tenant: string, run: RunId): Promise<RunView> {
  const result = await producer.news.resultOf(tenant, run);
  if (result) return result;
  const marker = await readOpenMarker(producer.store, tenant, run);
  if (!marker) {
    // It may have been committed, and its marker removed, between the two reads.
    const late = await producer.news.resultOf(tenant, run);
    if (late) return late;
    throw noSuchRun(run);
  }
  const shown = await producer.specs.shown(tenant, run, marker.spec);
  const { since: _since, ...progress } = await progressOf(producer, marker);
  return { run, tenant, ...progress, spec: marker.spec, ...shown };
}

/** What was asked, to be disposed of; undefined for a refusal, which has no spec. */
export async function specOf(producer: Producer, { tenant, run, spec, status }: RunView) {
  if (spec && status === 'finished') await refuseErased(producer.store, tenant, run);
  return spec ? await producer.specs.whole(tenant, run, spec) : undefined;
}

export function requireSpec<T>(run: RunId, found: T | undefined): T {
  if (found) return found;
  throw new HotcellError('not_found', `Run ${run} was refused, so it has no spec. Its result names the reasons.`);
}

export type RunProgress = Pick<RunView & { status: Exclude<RunStatus, 'finished'> }, 'status' | 'waiting'> & {
  /** When the worker told it. */
  since?: string;
};

/** How far an open run is. Without Valkey it counts as queued: it is accepted in any case. */
async function progressOf(producer: Producer, marker: OpenMarker): Promise<RunProgress> {
  try {
    const [beat] = await producer.live.statusesOf([marker.run]);
    if (beat && beat.status !== 'queued') return { status: beat.status, since: beat.since };
    return { status: 'queued', waiting: await waitingOf(producer, marker) };
  } catch (error) {
    if (!(error instanceof HotcellError && error.code === 'queue_unavailable')) throw error;
    return { status: 'queued', waiting: unknown };
  }
}

/** The same for followers, all together: undefined when there is nothing more to follow. */
export function progressNow(producer: Producer, tenant: string, run: RunId): Promise<RunProgress | undefined> {
  return producer.progress.read(`${tenant}/${run}`, async () => {
    if (await producer.news.resultOf(tenant, run)) return undefined;
    const marker = await readOpenMarker(producer.store, tenant, run);
    return marker ? await progressOf(producer, marker) : undefined;
  });
}
