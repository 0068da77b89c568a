import type { ListedSchedule, Schedule, Tick, VersionOfSchedule } from '@hotcell/contract/api/schedules.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { withoutVersions } from '@hotcell/contract/published-versions.ts';
import { currentPeriod, jitterMs, nextTick } from '@hotcell/contract/schedule-ticks.ts';
import type { ScheduleHead, ScheduleVersion, TickRecord } from '@hotcell/contract/schedule.ts';
import { knowVersions } from './awaited-names.ts';
import { requireVersion } from './change-schedule.ts';
import { nameOfTick, readTick, tickNames } from '@hotcell/record/tick-records.ts';
import type { Producer } from '../producer.ts';

const shownTicks = 10;
const shownNext = 5;
const readsAtOnce = 8;
/** A leader that is this far behind is none. */
const behindMs = 10_000;

export async function showSchedule(producer: Producer, stored: ScheduleHead): Promise<Schedule> {
  const { head } = await knowVersions(producer.store, stored);
  const [version, { ticks: last }] = await Promise.all([
    requireVersion(producer.store, head),
    newestTicks(producer, head, { limit: shownTicks }),
  ]);
  const now = Date.now();
  return {
    ...listed(head, last, now, shownNext),
    rules: currentPeriod(head).rules,
    jitterMs: jitterMs(head),
    waits: waitsFor(head, last, now),
    last,
    ...{ author: version.author, policy: version.policy, image: version.image, changes: version.changes },
    backfills: head.backfills ?? [],
    createdAt: head.createdAt,
    changedAt: version.at,
  };
}

export async function listedSchedule(producer: Producer, stored: ScheduleHead): Promise<ListedSchedule> {
  const { head } = await knowVersions(producer.store, stored);
  const { ticks } = await newestTicks(producer, head, { limit: 3 });
  return { ...listed(head, ticks, Date.now(), 1), last: ticks[0] ?? null };
}

export function versionShown(version: ScheduleVersion): VersionOfSchedule {
  const { version: _, tenant: __, schedule: ___, request: run, ...shown } = version;
  return { ...shown, run };
}

function listed(head: ScheduleHead, ticks: readonly Tick[], now: number, most: number) {
  const { name, id, stopped } = head;
  const { number } = currentPeriod(head);
  const trigger = withoutVersions(currentPeriod(head).trigger);
  const next = stopped ? [] : nextTicks(head, now, most);
  return { name, id, number, trigger, health: healthOf(head, ticks, now), ...(stopped && { stopped }), next };
}

function nextTicks(head: ScheduleHead, now: number, most: number): string[] {
  const times: string[] = [];
  for (let at = nextTick(head, now); at !== undefined && times.length < most; at = nextTick(head, at))
    times.push(new Date(at).toISOString());
  return times;
}

/** The newest tick that has come to an end decides; what was skipped or cancelled says nothing. */
function healthOf(head: ScheduleHead, ticks: readonly Tick[], now: number): Schedule['health'] {
  const { stopped } = head;
  if (stopped) return { state: 'paused', message: `${stopped.kind} by ${stopped.by}: ${stopped.reason}` };
  const late = overdue(head, ticks, now);
  if (late !== undefined) return { state: 'bad', message: late };
  for (const { state, outcome, planned, reason, problem } of ticks) {
    if (problem) return { state: 'bad', message: `${planned} is not accepted yet: ${problem.message}` };
    if (state === 'refused' || state === 'missed')
      return { state: 'bad', message: `${planned} was ${state}: ${reason}` };
    if (outcome === 'succeeded') return { state: 'good', message: `${planned} succeeded` };
    if (outcome !== null && outcome !== 'cancelled') return { state: 'bad', message: `${planned} ${outcome}` };
  }
  return { state: 'new', message: 'No tick has come to an end yet.' };
}

/** Due for long, and nothing was decided. */
function overdue(head: ScheduleHead, ticks: readonly Tick[], now: number): string | undefined {
  const newest = ticks.find(({ kind }) => kind === 'planned');
  const next = nextTick(head, newest ? Date.parse(newest.planned) : Number.NEGATIVE_INFINITY);
  if (next === undefined || next + jitterMs(head) + behindMs > now) return undefined;
  return `${new Date(next).toISOString()} is due and not decided: no producer leads the schedules, or it is behind. Check that producers run and that Valkey answers.`;
}

function waitsFor(head: ScheduleHead, ticks: readonly Tick[], now: number): string {
  if (head.stopped) return `It is ${head.stopped.kind}: ${head.stopped.reason}`;
  const late = overdue(head, ticks, now);
  if (late !== undefined) return late;
  const held = ticks.findLast(({ problem }) => problem !== undefined);
  if (held) return `The run of ${held.planned} is not accepted yet: ${held.problem?.message}`;
  const waiting = ticks.findLast(({ state }) => state === 'waiting');
  if (waiting) return waiting.reason;
  const next = nextTick(head, now);
  const { trigger } = currentPeriod(head);
  if (next === undefined && 'onPublish' in trigger) return `It waits for the next version of ${trigger.onPublish}.`;
  if (next === undefined) return 'No tick comes within eight years.';
  const jitter = jitterMs(head);
  const begins = jitter > 0 ? `, and begins ${jitter / 1000} s later` : '';
  return `It is planned for ${new Date(next).toISOString()}${begins}.`;
}

/** A page of ticks with what became of their runs, the newest first. */
export async function newestTicks(
  producer: Producer,
  head: ScheduleHead,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<{ ticks: Tick[]; next: string | null }> {
  const names: string[] = [];
  for await (const name of tickNames(producer.store, head, { after, pageSize: limit + 1 }))
    if (names.push(name) > limit) break;
  const ticks = new Map<string, Tick>();
  await inLanes(readsAtOnce, names.slice(0, limit), async (name) => {
    const found = await readTick(producer.store, head, name);
    if (found) ticks.set(nameOfTick(found.value), await shown(producer, found.value));
  });
  const page = names.slice(0, limit).flatMap((name) => ticks.get(name) ?? []);
  return { ticks: page, next: names.length > limit ? (names[limit - 1] ?? null) : null };
}

async function shown({ news }: Producer, tick: TickRecord): Promise<Tick> {
  const { planned, published, since, kind, number, state, reason, errors, problem, run, at, tenant } = tick;
  const result = state === 'run' ? await news.resultOf(tenant, run) : undefined;
  return {
    ...{ planned, kind, number, state, at, reason: reason || (result?.reason ?? '') },
    ...(published && { published }),
    ...(since !== undefined && { since }),
    ...(errors && { errors }),
    ...(problem && { problem }),
    outcome: state === 'refused' ? 'rejected' : (result?.outcome ?? null),
    run: state === 'run' || state === 'waiting' || state === 'refused' ? run : null,
  };
}
