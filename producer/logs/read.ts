import { HotcellError } from '@hotcell/contract/errors.ts';
import type { LogRow } from '@hotcell/contract/log-rows.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { committedAttempt, type Result } from '@hotcell/contract/result.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { merge } from '../follow/merge.ts';
import type { News } from '../news.ts';
import type { Producer } from '../producer.ts';
import { storedRows } from '@hotcell/record/run-logs.ts';
import { LogTail } from './tail.ts';

type LogDeps = Pick<Producer, 'store' | 'live' | 'news'>;

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
  const tail = new LogTail(deps, of.run, options.after ?? -1);
  // Listening begins before the first read: nothing in between is missed.
  for await (const perhapsFinished of wakes(deps, of.run, options.signal)) {
    const result = perhapsFinished ? await deps.news.resultOf(of.tenant, of.run) : undefined;
    if (result) {
      yield* committedRows(deps.store, result, tail);
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
async function* committedRows(store: Buckets, result: Result, tail: LogTail): AsyncGenerator<LogRow> {
  const after = tail.attempt !== 0 && tail.attempt !== committedAttempt(result)?.attempt ? -1 : tail.after;
  for await (const row of storedRows(store, result)) if (row.seq > after) yield row;
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
