import { HotcellError } from '@hotcell/contract/errors.ts';
import { currentPeriod } from '@hotcell/contract/schedule-ticks.ts';
import {
  mostPeriods,
  type Period,
  type ScheduleHead,
  ScheduleName,
  type ScheduleVersion,
} from '@hotcell/contract/schedule.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { putHead, readHead, readVersion, type StoredHead } from '@hotcell/record/schedule-records.ts';

export interface ChangeDeps {
  store: Buckets;
  live: Pick<Live, 'scheduleChanged'>;
  log: Logger;
}

function noSuchSchedule(name: string): HotcellError {
  return new HotcellError('not_found', `Schedule ${name} not found. GET /v1/schedules lists the schedules.`);
}

/** A schedule that was not deleted. A malformed name is an unknown schedule. */
export async function requireHead(store: Buckets, tenant: string, name: string): Promise<StoredHead> {
  const found = ScheduleName.safeParse(name).success ? await readHead(store, tenant, name) : undefined;
  if (!found || found.value.stopped?.kind === 'deleted') throw noSuchSchedule(name);
  return found;
}

/** The version that is in force. */
export async function requireVersion(store: Buckets, head: ScheduleHead): Promise<ScheduleVersion> {
  const { number } = currentPeriod(head);
  const version = await readVersion(store, { tenant: head.tenant, schedule: head.id, number });
  if (version) return version;
  throw new HotcellError('record_damaged', `Version ${number} of schedule ${head.name} is missing from the record.`);
}

const mostTries = 20;

/** Changes a schedule over exactly what was read, again until no other writer was faster, and tells its leader. */
export async function changeHead(
  deps: ChangeDeps,
  { tenant, name }: { tenant: string; name: string },
  change: (head: ScheduleHead) => ScheduleHead,
): Promise<StoredHead> {
  for (let tries = 1; ; tries++) {
    const before = await requireHead(deps.store, tenant, name);
    try {
      const after = await putHead(deps.store, change(before.value), before);
      await tellLeader(deps, after.value);
      return after;
    } catch (error) {
      if (!(error instanceof PreconditionFailed) || tries >= mostTries) throw error;
    }
  }
}

/** Without Valkey the leader sees the change at its next look at all schedules. */
export async function tellLeader({ live, log }: ChangeDeps, { tenant, name }: ScheduleHead): Promise<void> {
  await live.scheduleChanged(tenant, name).catch((error: unknown) => {
    log.info({ schedule: name, error }, 'failed to announce a change of a schedule; its leader will see it');
  });
}

interface By {
  by: string;
  reason: string;
}

/** From now on no tick is planned; those that were planned before are skipped if they have not begun. */
export function paused(
  head: ScheduleHead,
  { by, reason }: By,
  now: number,
  kind: 'paused' | 'deleted' = 'paused',
): ScheduleHead {
  const at = new Date(now).toISOString();
  return { ...head, periods: ended(head, at), stopped: { kind, by, reason, at } };
}

/** Ticks are planned again from now on. */
export function resumed(head: ScheduleHead, now: number): ScheduleHead {
  const { stopped: _, ...rest } = head;
  const { until: __, ...period } = currentPeriod(head);
  return begin(rest, period, now);
}

/** From now on ticks are planned as this period says; those before follow from the periods before. */
export function begin(head: ScheduleHead, period: Omit<Period, 'from' | 'until'>, now: number): ScheduleHead {
  const periods = ended(head, new Date(now).toISOString());
  // A clock that was set back makes no two periods plan the same tick.
  const from = periods.at(-1)?.until ?? new Date(now).toISOString();
  return { ...head, periods: [...periods, { ...period, from: laterOf(from, now) }].slice(-mostPeriods) };
}

function ended({ periods }: ScheduleHead, at: string): Period[] {
  return periods.map((period) => ({ ...period, until: period.until ?? laterOf(period.from, Date.parse(at)) }));
}

const laterOf = (time: string, now: number) => new Date(Math.max(Date.parse(time), now)).toISOString();
