import type { Logger } from '@hotcell/outside/process/log.ts';
import { restUnlessAborted } from '@hotcell/contract/waits.ts';
import type { InputCache } from './cache.ts';

const restMs = 60_000;
/** Verifying takes at most a twentieth of the time: the disk belongs to the runs. */
const restPerWork = 19;

/**
 * Verifies the cached trees one by one, the one verified longest ago first. Damaged contents are removed, and fetched
 * again when a run needs them.
 */
export async function scrub(
  inputs: Pick<InputCache, 'verifyOldest'>,
  log: Logger,
  ends: AbortSignal,
  atLeastMs: number = restMs,
): Promise<void> {
  let took = 0;
  while (!ends.aborted) {
    await restUnlessAborted(Math.max(atLeastMs, took * restPerWork), ends);
    const since = performance.now();
    try {
      if (!ends.aborted) await inputs.verifyOldest(ends);
    } catch (error) {
      if (!ends.aborted) log.warn({ error }, 'failed to verify cached inputs; trying again');
    }
    took = performance.now() - since;
  }
}
