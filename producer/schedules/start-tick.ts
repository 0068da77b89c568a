import { HotcellError } from '@hotcell/contract/errors.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { loopRefusal, schedulesBehind, tickRequest } from '@hotcell/contract/schedule-request.ts';
import type { Publication, TickRecord } from '@hotcell/contract/schedule.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { readVersion } from '@hotcell/record/schedule-records.ts';
import { ask } from '../ask.ts';
import { callerFrom } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';

/**
 * Has the run of a tick accepted, as any request: its inputs are frozen now. Doing it twice is doing it once, as the run
 * has its id from the tick. Answers the refused tick if it can't run; throws what another try may get past.
 */
export async function startTick(producer: Producer, tick: TickRecord): Promise<TickRecord | undefined> {
  const { tenant, run, planned, name } = tick;
  const version = await readVersion(producer.store, tick);
  if (!version)
    throw new HotcellError('record_damaged', `Version ${tick.number} of schedule ${name} is missing from the record.`);
  const { author, request, trigger, policy } = version;
  const standing = await producer.keys.standingOf(author.key);
  if ('refused' in standing) return refused(tick, standing.refused, []);
  const { published } = tick;
  const after = published && tick.kind === 'planned' ? await behind(producer, tenant, published) : [];
  const loop = published && loopRefusal(name, published, after);
  if (loop !== undefined) return refused(tick, loop, []);
  const body = tickRequest(request, { name, planned: Date.parse(planned), trigger, published, after });
  try {
    const caller = callerFrom(standing.record, tenant);
    await ask(producer, { body, caller, given: { run, policy: policy.digest } });
    crashPoint('schedule.started');
    return undefined;
  } catch (error) {
    if (!(error instanceof HotcellError) || error.retryable) throw error;
    crashPoint('schedule.refused');
    return refused(tick, error.message, error.issues);
  }
}

/** The schedules that led to a version, if a run published it. */
async function behind({ store }: Producer, tenant: string, { by }: Publication): Promise<string[]> {
  const run = RunId.safeParse(by.replace(/^run /, ''));
  if (!run.success) return [];
  const spec = await findSpec(store, tenant, run.data).catch((error: unknown) => {
    if (error instanceof HotcellError && error.code === 'erased') return undefined;
    throw error;
  });
  return schedulesBehind(spec?.spec.params);
}

export function refused(tick: TickRecord, reason: string, errors: HotcellError['issues']): TickRecord {
  return { ...tick, state: 'refused', reason, ...(errors.length > 0 && { errors: [...errors] }) };
}
