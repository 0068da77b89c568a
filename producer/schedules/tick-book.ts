import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Outcome } from '@hotcell/contract/outcomes.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { currentPeriod, tickOfName } from '@hotcell/contract/schedule-ticks.ts';
import type { ScheduleHead, TickRecord } from '@hotcell/contract/schedule.ts';
import { nameOfTick, type StoredTick } from '@hotcell/record/tick-records.ts';

/** Where the records of a schedule's ticks are, and what became of their runs. */
export interface TickSource {
  /** The newest first. */
  names(): AsyncIterable<string>;
  read(name: string): Promise<StoredTick | undefined>;
  /** An outcome, `open` for a run that goes on, undefined for one that was never accepted. */
  stateOf(run: RunId): Promise<Outcome | 'open' | undefined>;
}

/** What the records say of a schedule: enough to decide its next ticks, however many it has had. */
export interface TickBook {
  decidedUntil: number;
  /** The oldest first. */
  unsettled: { stored: StoredTick; begun: boolean }[];
  failures: number;
}

/** Reads the newest records, and behind them those that were not settled when they were made. */
export async function readBook(head: ScheduleHead, source: TickSource): Promise<TickBook> {
  const { starts, decidedUntil } = await newestOf(source);
  const found = new Map<string, StoredTick>();
  for (const start of starts)
    for (let name: string | undefined = start; name !== undefined && !found.has(name); ) {
      const stored: StoredTick | undefined = await source.read(name);
      if (!stored) throw new HotcellError('record_damaged', `The tick ${name} of schedule ${head.name} has no record.`);
      found.set(name, stored);
      // When it was given its run in its turn, all before it were settled.
      const { state, backfill, behind }: TickRecord = stored.value;
      name = state === 'run' && backfill === undefined ? undefined : behind;
    }
  const all = [...found.values()].toSorted((a, b) => a.value.planned.localeCompare(b.value.planned));
  const open = all.filter(({ value }) => isUnsettled(value));
  const book: TickBook = {
    decidedUntil,
    unsettled: open.map((stored) => ({ stored, begun: false })),
    failures: failuresIn(head, all),
  };
  return book;
}

function isUnsettled({ state, backfill }: TickRecord): boolean {
  return backfill === undefined && (state === 'run' || state === 'waiting');
}

/** The newest planned tick, and the newest of all. */
async function newestOf(source: TickSource): Promise<{ starts: string[]; decidedUntil: number }> {
  const starts: string[] = [];
  for await (const name of source.names()) {
    const tick = tickOfName(name);
    if (!tick) continue;
    if (starts.length === 0 || tick.kind === 'planned') starts.push(name);
    if (tick.kind === 'planned') return { starts, decidedUntil: tick.planned };
  }
  return { starts, decidedUntil: Number.NEGATIVE_INFINITY };
}

/** Drops the ticks whose runs have ended, counts those that did not succeed, and answers all of them. */
export async function settle(
  head: ScheduleHead,
  book: TickBook,
  source: Pick<TickSource, 'stateOf'>,
): Promise<{ stored: StoredTick; outcome: Outcome }[]> {
  const ended: { stored: StoredTick; outcome: Outcome }[] = [];
  const left: TickBook['unsettled'] = [];
  for (const one of book.unsettled) {
    const tick = one.stored.value;
    const state = tick.state === 'run' ? await source.stateOf(tick.run) : undefined;
    if (state === undefined || state === 'open') left.push({ ...one, begun: state === 'open' });
    else {
      if (counts(head, tick)) book.failures = failuresAfter(book.failures, state);
      ended.push({ stored: one.stored, outcome: state });
    }
  }
  book.unsettled = left;
  return ended;
}

/** A run that was cancelled says nothing about the schedule. */
function failuresAfter(before: number, outcome: Outcome): number {
  if (outcome === 'succeeded') return 0;
  return outcome === 'cancelled' ? before : before + 1;
}

/** After a change or a resumption, failures are counted anew. */
function counts(head: ScheduleHead, tick: TickRecord): boolean {
  return tick.at > currentPeriod(head).from;
}

/** As the newest record says it, before what it left unsettled has ended. */
function failuresIn(head: ScheduleHead, records: readonly StoredTick[]): number {
  const newest = records
    .map(({ value }) => value)
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .at(-1);
  if (!newest || !counts(head, newest)) return 0;
  return newest.failures + (newest.state === 'refused' && newest.backfill === undefined ? 1 : 0);
}

/** Takes a step's new record into the book. */
export function enter(book: TickBook, stored: StoredTick): void {
  const tick = stored.value;
  const name = nameOfTick(tick);
  if (tick.kind === 'planned') book.decidedUntil = Math.max(book.decidedUntil, Date.parse(tick.planned));
  const at = book.unsettled.findIndex((one) => nameOfTick(one.stored.value) === name);
  if (tick.backfill !== undefined) return;
  if (isUnsettled(tick)) {
    const entry = { stored, begun: false };
    if (at < 0) book.unsettled.push(entry);
    else book.unsettled[at] = entry;
  } else if (at >= 0) book.unsettled.splice(at, 1);
  if (tick.state === 'refused') book.failures += 1;
}
