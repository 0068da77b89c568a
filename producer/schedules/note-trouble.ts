import type { ScheduleHead, TickRecord } from '@hotcell/contract/schedule.ts';
import { noteEventIfWanted } from '@hotcell/record/webhook-records.ts';
import type { Producer } from '../producer.ts';

/** For webhooks, before its record is put: what is noted twice, because a leader died in between, is one event. */
export async function noteTrouble({ store }: Pick<Producer, 'store'>, tick: TickRecord): Promise<void> {
  const { tenant, name, planned, run, state, reason } = tick;
  if (state !== 'refused' && state !== 'missed') return;
  await noteEventIfWanted(store, {
    ...{ version: 1, tenant, id: `${state}-${run}`, type: `schedule.${state}`, at: planned },
    data: { schedule: name, planned, reason: reason.slice(0, 1_000) },
  });
}

/** The same, before Hotcell pauses a schedule. */
export async function notePause(
  { store }: Pick<Producer, 'store'>,
  { tenant, name, id, periods }: ScheduleHead,
  reason: string,
  now: number,
): Promise<void> {
  await noteEventIfWanted(store, {
    // After each change or resumption it may be paused once more.
    ...{ version: 1, tenant, id: `paused-${id}-${Date.parse(periods.at(-1)?.from ?? '')}`, type: 'schedule.paused' },
    ...{ at: new Date(now).toISOString(), data: { schedule: name, reason: reason.slice(0, 1_000) } },
  });
}
