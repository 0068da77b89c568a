import { HotcellError } from '@hotcell/contract/errors.ts';
import type { LogRow } from '@hotcell/contract/log-rows.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { committedAttempt, type Result } from '@hotcell/contract/result.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import { merge } from '../follow/merge.ts';
import type { News } from '../news.ts';
import type { Producer } from '../producer.ts';
import { storedRows } from '@hotcell/record/run-logs.ts';
import { LogTail } from './tail.ts';

type LogDeps = Pick<Producer, 'bulk' | 'live' | 'news' | 'tails' | 'doors'>;

interface ReadLogOptions {
  /** Only rows after this one; -1 for all. */
  after?: number;
  /** Stay until the run is finished; otherwise end with what is there now. */
  follow?: boolean;
  signal: AbortSignal;
}

/** A run's log from the start, in order and exactly once; while the run goes on, rows are given as they come. */
export async function* readLog(
  deps: LogDeps,
  of: { tenant: string; run: RunId },
  options: ReadLogOptions,
): AsyncGenerator<LogRow> {
  const tail = new LogTail(deps.tails, of.run, options.after ?? -1);
  // Listening begins before the first read: nothing in between is missed.
  for await (const perhapsFinished of wakes(deps, of.run, options.signal)) {
    const result = perhapsFinished ? await deps.news.resultOf(of.tenant, of.run) : undefined;
    if (result) {
      yield* committedRows(deps, result, tail, options.signal);
      return;
    }
    try {
      yield* tail.rows();
    } catch (error) {
      // Without Valkey the tail cannot be read; the log is not lost, and shows when the run is finished.
      if (!(error instanceof HotcellError && error.code === 'queue_unavailable' && options.follow)) throw error;
    }
    if (!options.follow) return;
  }
}

/** The rest of the log from the record: all of it, if the attempt that was followed did not commit. */
async function* committedRows(
  { bulk, doors }: LogDeps,
  result: Result,
  tail: LogTail,
  signal: AbortSignal,
): AsyncGenerator<LogRow> {
  const after = tail.attempt !== 0 && tail.attempt !== committedAttempt(result)?.attempt ? -1 : tail.after;
  const giveBack = await doors.downloads.takeInTurn(result.tenant, 1, signal);
  try {
    for await (const row of storedRows(bulk, result)) if (row.seq > after) yield row;
  } finally {
    giveBack();
  }
}

/** Wakes at once, then whenever there may be more; true when the run may be finished and the record is worth a read. */
async function* wakes(deps: LogDeps, run: RunId, signal: AbortSignal): AsyncGenerator<boolean> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  try {
    yield* merge(ends(deps.news, run, either), more(deps.live, run, either));
  } finally {
    over.abort();
  }
}

async function* ends(news: News, run: RunId, signal: AbortSignal): AsyncGenerator<boolean> {
  using listener = news.listen(run);
  yield true;
  while (!signal.aborted) {
    const told = await listener.next(signal);
    if (told.length === 0 || told.some((event) => event.status === 'finished')) yield true;
  }
}

async function* more(live: Live, run: RunId, signal: AbortSignal): AsyncGenerator<boolean> {
  for await (const _ of live.logs.follow(run, signal)) yield false;
}
