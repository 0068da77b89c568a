import { publicationAt } from '@hotcell/contract/published-versions.ts';
import { currentPeriod, nextTick, tickName, tickRunId, timesFrom } from '@hotcell/contract/schedule-ticks.ts';
import type { Backfill, Publication, ScheduleHead, TickRecord } from '@hotcell/contract/schedule.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { putHead } from '@hotcell/record/schedule-records.ts';
import { putTick, readTick, type StoredTick } from '@hotcell/record/tick-records.ts';
import type { Producer } from '../producer.ts';
import { type Known, ticksIn } from './known-schedule.ts';
import { startTick } from './start-tick.ts';
import { enter } from './tick-book.ts';

/** How far a backfill has come is written after so many ticks: a successor looks at no more of them again. */
const writtenAfter = 20;

/**
 * Goes on with the oldest backfill: gives runs to ticks that have none, as many at once as it may. A tick that has a run
 * keeps it. Answers the runs that it waits for.
 */
export async function fillBack(
  producer: Producer,
  known: Known,
  planning: ScheduleHead,
  now: number,
): Promise<RunId[]> {
  const head = known.head.value;
  const [backfill, ...others] = head.backfills ?? [];
  if (!backfill || head.stopped) return [];
  const { trigger } = currentPeriod(planning);
  const undecided = nextTick(planning, known.book.decidedUntil) ?? Number.POSITIVE_INFINITY;
  const open: RunId[] = [];
  const done = { ended: 0, reached: Date.parse(backfill.next) };
  for (const planned of timesFrom(trigger, done.reached, Date.parse(backfill.to))) {
    if (open.length === 0) done.reached = planned;
    // Ticks of the present are decided first, in their order.
    if (open.length >= backfill.parallel || planned >= undecided) return await moveOn(producer, known, done, open);
    const tick = await runFor(producer, known, { backfill, planned, now, published: publicationAt(trigger, planned) });
    if (tick.state === 'run' && (await goesOn(producer, known, tick))) open.push(tick.run);
    else if (open.length === 0) done.ended++;
  }
  if (open.length > 0) return await moveOn(producer, known, done, open);
  crashPoint('schedule.filled');
  known.head = await putHead(producer.store, { ...head, backfills: others }, known.head);
  return others.length > 0 ? await fillBack(producer, known, planning, now) : [];
}

async function moveOn(
  { store }: Producer,
  known: Known,
  { ended, reached }: { ended: number; reached: number },
  open: RunId[],
): Promise<RunId[]> {
  const [backfill, ...others] = known.head.value.backfills ?? [];
  if (!backfill || ended < writtenAfter) return open;
  const moved = { ...backfill, next: new Date(reached).toISOString() };
  known.head = await putHead(store, { ...known.head.value, backfills: [moved, ...others] }, known.head);
  return open;
}

interface Filling {
  backfill: Backfill;
  planned: number;
  now: number;
  published: Publication | undefined;
}

/** Its record, after it was given a run if it had none. */
async function runFor({ store }: Producer, known: Known, filling: Filling): Promise<TickRecord> {
  const head = known.head.value;
  const before = await readTick(store, head, tickName('planned', filling.planned));
  if (before && before.value.state !== 'skipped' && before.value.state !== 'missed') return before.value;
  const tick = filled(known, before, filling);
  enter(known.book, await putTick(store, tick, before));
  crashPoint('schedule.backfilled');
  return tick;
}

function filled(
  { head: { value: head }, book }: Known,
  before: StoredTick | undefined,
  { backfill, planned, now, published }: Filling,
): TickRecord {
  const { tenant, name, id: schedule } = head;
  const last = book.unsettled.at(-1)?.stored.value;
  const behind = before?.value.behind ?? (last && tickName(last.kind, Date.parse(last.planned)));
  return {
    ...{ version: 1, tenant, schedule, name, kind: 'planned', planned: new Date(planned).toISOString() },
    ...(published && { published }),
    ...(before?.value.since !== undefined && { since: before.value.since }),
    number: currentPeriod(head).number,
    run: tickRunId(schedule, 'planned', planned),
    ...{ state: 'run', reason: `Filled in by a backfill that ${backfill.by} asked for.` },
    ...{ at: new Date(now).toISOString(), failures: book.failures, backfill: backfill.id },
    ...(behind !== undefined && { behind }),
  };
}

/** Has it accepted if it is not. False once its run has ended or was refused. */
async function goesOn(producer: Producer, known: Known, tick: TickRecord): Promise<boolean> {
  const head = known.head.value;
  const state = await ticksIn(producer, head).stateOf(tick.run);
  if (state !== undefined) return state === 'open';
  const refusal = await startTick(producer, tick);
  if (!refusal) return true;
  const stored = await readTick(producer.store, head, tickName('planned', Date.parse(tick.planned)));
  enter(known.book, await putTick(producer.store, refusal, stored));
  return false;
}
