import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { decide, type Decision, type Step } from '@hotcell/contract/schedule-decide.ts';
import { tickName } from '@hotcell/contract/schedule-ticks.ts';
import type { ScheduleHead, TickRecord } from '@hotcell/contract/schedule.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { putHead } from '@hotcell/record/schedule-records.ts';
import { nameOfTick, putTick, readTick, type StoredTick } from '@hotcell/record/tick-records.ts';
import { cancelRun } from '../cancel.ts';
import type { Producer } from '../producer.ts';
import { type Awaited, knowVersions } from './awaited-names.ts';
import { paused } from './change-schedule.ts';
import { fillBack } from './fill-back.ts';
import { type Known, ticksIn } from './known-schedule.ts';
import { notePause, noteTrouble } from './note-trouble.ts';
import { refused, startTick } from './start-tick.ts';
import { enter, settle, type TickBook } from './tick-book.ts';

/** When to look again, and the runs whose ends come before that. */
export interface Advanced extends Pick<Decision, 'wakeAt'> {
  awaited: Awaited | undefined;
  awaits: readonly RunId[];
}

/** One step further, as far as this moment allows: sees what has ended, decides what is due, and does it. */
export async function advance(producer: Producer, known: Known, now: number): Promise<Advanced> {
  const { book } = known;
  const head = known.head.value;
  for (const { stored, outcome } of await settle(head, book, ticksIn(producer, head)))
    if (outcome === 'rejected') await recordRefusal(producer, stored);
  const key = await producer.keys.standingOf(head.key);
  const { head: planned, awaited } = await knowVersions(producer.store, head);
  const decision = decide(
    {
      ...{ head: planned, decidedUntil: book.decidedUntil, failures: book.failures },
      unsettled: book.unsettled.map(({ stored, begun }) => ({ tick: stored.value, begun })),
      asked: await unrecorded(producer, head),
      keyRefused: 'refused' in key ? key.refused : undefined,
    },
    now,
  );
  for (const step of decision.steps) await perform(producer, known, step, now);
  await forgetAsked(producer, known);
  const filling = await fillBack(producer, known, planned, now);
  const turns = decision.awaitsEnd ? book.unsettled.map(({ stored }) => stored.value.run) : [];
  return { awaited, wakeAt: decision.wakeAt, awaits: [...turns, ...filling] };
}

/** What callers asked for, and no leader has recorded. */
async function unrecorded({ store }: Producer, head: ScheduleHead): Promise<number[]> {
  const times = head.asked.map(({ at }) => Date.parse(at));
  const records = await Promise.all(times.map((at) => readTick(store, head, tickName('asked', at))));
  return times.filter((_, i) => records[i] === undefined);
}

async function forgetAsked({ store }: Producer, known: Known): Promise<void> {
  if (known.head.value.asked.length === 0) return;
  crashPoint('schedule.asked');
  known.head = await putHead(store, { ...known.head.value, asked: [] }, known.head);
}

async function perform(producer: Producer, known: Known, step: Step, now: number): Promise<void> {
  const { store, log } = producer;
  const head = known.head.value;
  switch (step.do) {
    case 'record':
    case 'change': {
      await noteTrouble(producer, step.tick);
      const before = step.do === 'change' ? unsettledOf(known.book, step.tick)?.stored : undefined;
      enter(known.book, await putTick(store, step.tick, before));
      crashPoint(`schedule.${step.tick.state}`);
      return;
    }
    case 'start':
      return await start(producer, known, step.tick);
    case 'cancel': {
      const reason = 'the next tick of the schedule replaces it';
      await cancelRun(producer, { tenant: head.tenant, run: step.tick.run, by: `schedule ${head.name}`, reason }).catch(
        (error: unknown) => {
          if (!(error instanceof HotcellError && error.code === 'finished_already')) throw error;
        },
      );
      crashPoint('schedule.cancelled');
      return;
    }
    case 'pause':
      await notePause(producer, head, step.reason, now);
      log.warn({ schedule: head.name, tenant: head.tenant, reason: step.reason }, 'paused a schedule');
      known.head = await putHead(store, paused(head, { by: 'Hotcell', reason: step.reason }, now), known.head);
      crashPoint('schedule.paused');
  }
}

function unsettledOf(book: TickBook, tick: TickRecord) {
  return book.unsettled.find(({ stored }) => nameOfTick(stored.value) === nameOfTick(tick));
}

async function start(producer: Producer, known: Known, tick: TickRecord): Promise<void> {
  const entry = unsettledOf(known.book, tick);
  if (!entry) return;
  const refusal = await startTick(producer, tick).catch(async (error: unknown) => {
    await noteProblem(producer, entry.stored, error);
    throw error;
  });
  if (refusal) await noteTrouble(producer, refusal);
  if (refusal) return enter(known.book, await putTick(producer.store, refusal, entry.stored));
  const { problem, ...accepted } = entry.stored.value;
  if (problem) entry.stored = await putTick(producer.store, accepted, entry.stored);
  entry.begun = true;
}

/** So that the schedule says why, once for each kind of problem. What can't be written now is said by the log. */
async function noteProblem({ store, log }: Producer, stored: StoredTick, error: unknown): Promise<void> {
  if (!(error instanceof HotcellError) || stored.value.problem?.code === error.code) return;
  const { code, message } = error;
  await putTick(store, { ...stored.value, problem: { code, message } }, stored).catch((cause: unknown) => {
    log.info({ schedule: stored.value.name, cause }, 'failed to note why a tick has not begun');
  });
}

/** Its run was refused by a leader that died before it could write so. */
async function recordRefusal({ store, news }: Producer, stored: StoredTick): Promise<void> {
  const { tenant, run } = stored.value;
  const result = await news.resultOf(tenant, run);
  await putTick(store, refused(stored.value, result?.reason ?? '', result?.errors ?? []), stored);
}
