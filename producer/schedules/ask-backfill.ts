import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { currentPeriod, timesFrom } from '@hotcell/contract/schedule-ticks.ts';
import {
  type Backfill,
  mostBackfills,
  mostBackfillTicks,
  type ScheduleHead,
  type Trigger,
} from '@hotcell/contract/schedule.ts';

export function newBackfill(asked: { from: string; to: string; parallel: number }, by: string, now: number): Backfill {
  const [from, to] = [new Date(asked.from), new Date(asked.to)];
  if (to.getTime() > now) throw wrong('to', 'must not lie in the future: those ticks come by themselves.');
  if (from >= to) throw wrong('from', 'must be before "to".');
  const times = { from: from.toISOString(), to: to.toISOString() };
  const at = new Date(now).toISOString();
  return { id: randomUUID(), ...times, parallel: asked.parallel, by, at, next: times.from };
}

function wrong(path: string, message: string): HotcellError {
  return new HotcellError('invalid', `${path}: ${message}`, { issues: [{ path, message }] });
}

/** Counts the ticks of a backfill: anew only if the schedule has another trigger than when it counted last. */
export function tickCounter(backfill: Backfill): (head: ScheduleHead) => number {
  let last: { trigger: Trigger; ticks: number } | undefined;
  return (head) => {
    const { trigger } = currentPeriod(head);
    if (!last || !isDeepStrictEqual(last.trigger, trigger)) last = { trigger, ticks: countTicks(trigger, backfill) };
    return last.ticks;
  };
}

/** Refuses too many before they are all counted. */
function countTicks(trigger: Trigger, { from, to }: Backfill): number {
  let count = 0;
  for (const _ of timesFrom(trigger, Date.parse(from), Date.parse(to)))
    if (++count > mostBackfillTicks)
      throw wrong(
        'to',
        `is too far from "from": a backfill is for at most ${mostBackfillTicks} ticks. Ask for several.`,
      );
  return count;
}

/** Asked for twice, because an answer was lost, it is one. */
export function withBackfill(head: ScheduleHead, backfill: Backfill): ScheduleHead {
  const { backfills = [] } = head;
  if (backfills.some(({ id }) => id === backfill.id)) return head;
  if (backfills.length >= mostBackfills)
    throw new HotcellError('too_many', `${mostBackfills} backfills of ${head.name} are not done. Try again later.`, {
      extra: { limit: 'backfills', retryAfterSeconds: 60 },
    });
  return { ...head, backfills: [...backfills, backfill] };
}
