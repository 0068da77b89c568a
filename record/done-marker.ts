import { digestOf } from '@hotcell/contract/digest.ts';
import type { DoneMarker } from './schemas.ts';
import type { Result } from '@hotcell/contract/result.ts';

/** What says that a result is there and its run's markers can go: always the same words for the same result. */
export function doneMarker(result: Result): DoneMarker {
  const { run, tenant, timings } = result;
  return { version: 1, run, tenant, result: digestOf(result), finishedAt: timings.finishedAt };
}
