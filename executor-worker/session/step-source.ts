import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { StepRecord } from '@hotcell/contract/session/step.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import { patiently } from '@hotcell/record/patience.ts';
import { type Kept, readStep } from '@hotcell/record/session-steps.ts';
import { nudgedWithin, type StepNudges } from './step-nudges.ts';

/** So often an idle session looks into the record, whatever it is told. */
const lookEveryMs = 2_000;

interface From {
  store: Buckets;
  tenant: string;
  run: RunId;
  nudges: StepNudges;
  log: Logger;
}

/** The link of this number as soon as the record has it; undefined when none came in time, or the wait is over. */
export async function nextStep(
  { store, tenant, run, nudges, log }: From,
  { index, before }: { index: number; before: Digest },
  idleMs: number,
  over: AbortSignal,
): Promise<Kept<StepRecord> | undefined> {
  const until = performance.now() + idleMs;
  while (!over.aborted) {
    const nudged = nudges.next;
    const found = await patiently(log, `read step ${index} of ${run}`, () => readStep(store, tenant, run, index));
    if (found) return inChain(found, before);
    const leftMs = until - performance.now();
    if (leftMs <= 0) return undefined;
    await nudgedWithin(Math.min(lookEveryMs, leftMs), nudged, over);
  }
  return undefined;
}

/** Each link names the one before it: one that names another was not written behind it. */
function inChain(found: Kept<StepRecord>, before: Digest): Kept<StepRecord> {
  const { run, index, before: named } = found.value;
  if (named === before) return found;
  throw new HotcellError(
    'record_damaged',
    `Step ${index} of session ${run} names ${named} as the link before it, and that is ${before}. It was not executed.`,
  );
}
