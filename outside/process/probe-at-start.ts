import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { probeQueue } from '../queue/probe-queue.ts';
import { type Probed, probeStore } from '../store/probe-store.ts';
import { Unfit } from './unfit.ts';

/** When a service starts, the store and the queue may still be starting: wait for them, but not for one that is unfit. */
export async function probeAtStart(settings: { store: Probed; redisUrl: string }, patienceMs = 60_000): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      await Promise.all([probeStore(settings.store), probeQueue(settings.redisUrl)]);
      return;
    } catch (error) {
      const mayRecover = error instanceof HotcellError && error.retryable && !(error instanceof Unfit);
      if (!mayRecover || performance.now() > end) throw error;
      await pause(500);
    }
  }
}
