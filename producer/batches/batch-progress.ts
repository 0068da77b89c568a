import type { BatchProgress } from '@hotcell/contract/batch.ts';
import { sampled } from '@hotcell/contract/batch-rate.ts';
import { putProgress } from '@hotcell/record/batch-records.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { endedIn, type KnownBatch } from './known-batch.ts';

const writtenEveryMs = 2_000;

/** Before items are begun that were never tried, and so that a view is not much older than two seconds. */
export async function writeProgress(store: Buckets, known: KnownBatch, now: number): Promise<void> {
  const { round, next, open, counts, problem, progress } = known;
  const ended = endedIn(known);
  const of = progress?.value.round === round ? progress.value.samples : [];
  const value: BatchProgress = {
    ...{ version: 1, round, begun: next, open: open.size, counts: { ...counts } },
    ...{ at: new Date(now).toISOString(), samples: sampled(of, ended, now) },
    ...(problem && { problem }),
  };
  known.progress = await putProgress(store, known.head.value, value, progress);
}

/** Only if a view would say something else. */
export async function refreshProgress(store: Buckets, known: KnownBatch, now: number): Promise<void> {
  const last = known.progress?.value;
  if (last && now - Date.parse(last.at) < writtenEveryMs) return;
  const same =
    last?.round === known.round &&
    last.open === known.open.size &&
    last.problem?.code === known.problem?.code &&
    endedIn(last) === endedIn(known);
  if (!same) await writeProgress(store, known, now);
}
