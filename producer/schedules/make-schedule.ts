import { randomUUID } from 'node:crypto';
import type { ScheduleChange, ScheduleRequest } from '@hotcell/contract/api/schedules.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { changesBetween } from '@hotcell/contract/schedule-change.ts';
import { currentPeriod } from '@hotcell/contract/schedule-ticks.ts';
import { mostSchedules, type ScheduleHead, type ScheduleVersion } from '@hotcell/contract/schedule.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import {
  listHeads,
  putHead,
  putVersion,
  readHead,
  readVersion,
  type StoredHead,
} from '@hotcell/record/schedule-records.ts';
import type { Caller } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import { begin, requireHead, tellLeader } from './change-schedule.ts';
import { type Judged, judgeVersion } from './judge-version.ts';

/** The version comes first, then the schedule that names it: from then on it has ticks. */
export async function makeSchedule(producer: Producer, caller: Caller, asked: ScheduleRequest): Promise<ScheduleHead> {
  const { store } = producer;
  const { tenant, key } = caller;
  const { name } = asked;
  const before = await readHead(store, tenant, name);
  if (before && before.value.stopped?.kind !== 'deleted') throw existsAlready(name);
  if (!before) await requireFreeName(producer, tenant);
  const judged = await judgeVersion(producer, caller, asked, Date.now());
  const now = Date.now();
  const createdAt = new Date(now).toISOString();
  const fresh: ScheduleHead = { version: 1, tenant, name, id: randomUUID(), key, createdAt, periods: [], asked: [] };
  const { trigger, rules } = judged;
  const head = begin(fresh, { number: 1, trigger, rules }, now);
  await putVersion(store, versionOf(head, 1, judged, []));
  try {
    await putHead(store, head, before);
  } catch (error) {
    if (!(error instanceof PreconditionFailed)) throw error;
    // The answer to a put that succeeded may have been lost.
    if ((await readHead(store, tenant, name))?.value.id !== head.id) throw existsAlready(name);
  }
  await tellLeader(producer, head);
  return head;
}

const mostTries = 20;

/** Ticks that were planned before the change are those of the version before. */
export async function changeSchedule(
  producer: Producer,
  caller: Caller,
  name: string,
  asked: ScheduleChange,
): Promise<ScheduleHead> {
  for (let tries = 1; ; tries++) {
    const before = await requireHead(producer.store, caller.tenant, name);
    try {
      return await changeOver(producer, caller, before, await judgeChange(producer, caller, before.value, asked));
    } catch (error) {
      if (!(error instanceof PreconditionFailed) || tries >= mostTries) throw error;
    }
  }
}

interface Change extends Pick<ScheduleVersion, 'changes'> {
  judged: Judged;
}

/** What is asked, and how it differs from the version in force. */
export async function judgeChange(
  producer: Producer,
  caller: Caller,
  head: ScheduleHead,
  asked: ScheduleChange,
): Promise<Change> {
  const judged = await judgeVersion(producer, caller, withAnchorOf(head, asked), Date.now());
  const last = await readVersion(producer.store, { ...head, schedule: head.id, number: currentPeriod(head).number });
  return { judged, changes: last ? changesBetween(comparable(last), comparable(judged)) : [] };
}

/** Over exactly what was read. */
export async function changeOver(
  producer: Producer,
  caller: Caller,
  before: StoredHead,
  change: Change,
): Promise<ScheduleHead> {
  const now = Date.now();
  const { number, trigger, rules } = await newVersion(producer, before.value, change);
  const changed = begin({ ...before.value, key: caller.key }, { number, trigger, rules }, now);
  // A paused schedule stays so: its ticks are planned when it is resumed.
  const head = before.value.stopped ? { ...changed, periods: closed(changed) } : changed;
  await putHead(producer.store, head, before);
  await tellLeader(producer, head);
  return head;
}

const closed = ({ periods }: ScheduleHead) =>
  periods.map((period) => ({ ...period, until: period.until ?? period.from }));

/** Intervals go on as they were counted, if the change says nothing else. */
function withAnchorOf(head: ScheduleHead, asked: ScheduleChange): ScheduleChange {
  const { trigger } = currentPeriod(head);
  if (!('everySeconds' in asked.trigger) || asked.trigger.anchor !== undefined || !('anchor' in trigger)) return asked;
  return { ...asked, trigger: { ...asked.trigger, anchor: trigger.anchor } };
}

/** Under the first number that no other change has taken, even one that died before it was finished. */
async function newVersion({ store }: Producer, head: ScheduleHead, { judged, changes }: Change) {
  for (let number = currentPeriod(head).number + 1; ; number++) {
    const version = versionOf(head, number, judged, changes);
    const stands = await putVersion(store, version);
    if (stands.at === version.at && stands.author.key === version.author.key) return version;
  }
}

function comparable({ trigger, rules, request, policy, image, author }: Judged) {
  return { trigger, rules, run: request, policy, image, author };
}

function versionOf(
  { tenant, id, name }: ScheduleHead,
  number: number,
  judged: Judged,
  changes: ScheduleVersion['changes'],
): ScheduleVersion {
  return { version: 1, tenant, schedule: id, name, number, at: new Date().toISOString(), ...judged, changes };
}

async function requireFreeName({ store }: Producer, tenant: string): Promise<void> {
  let names = 0;
  for await (const _ of listHeads(store, tenant)) names++;
  if (names < mostSchedules) return;
  throw new HotcellError(
    'too_many',
    `The tenant ${tenant} has given ${names} names to schedules, and ${mostSchedules} are the most. Use the name of one that was removed.`,
    { extra: { limit: 'schedules' } },
  );
}

function existsAlready(name: string): HotcellError {
  return new HotcellError(
    'conflict',
    `There is a schedule ${name} already. PUT /v1/schedules/${name} changes it, and DELETE /v1/schedules/${name} removes it.`,
  );
}
