import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { InputCache } from './cache.ts';

const restMs = 60_000;
/** Reading again takes at most a twentieth of the time: the disk belongs to the runs. */
const restPerWork = 19;

/**
 * Read what is cached again, tree by tree, the one that was looked at longest ago first. What the disk did not keep goes,
 * and is fetched again when somebody needs it.
 */
export async function scrub(
  inputs: InputCache,
  log: Logger,
  ends: AbortSignal,
  atLeastMs: number = restMs,
): Promise<void> {
  let took = 0;
  while (!ends.aborted) {
    await pause(Math.max(atLeastMs, took * restPerWork), undefined, { signal: ends }).catch(() => {
      // Asked to end: the loop sees it.
    });
    const since = performance.now();
    try {
      if (!ends.aborted) await inputs.verifyOldest(ends);
    } catch (error) {
      if (!ends.aborted) log.warn({ error }, 'cached inputs could not be looked at: looked at again');
    }
    took = performance.now() - since;
  }
}
