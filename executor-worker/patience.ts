import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';

const forMs = 120_000;

/** Again and again while the store is away, with longer pauses, for two minutes: for writes that must not be lost. */
export async function patiently<T>(log: Logger, what: string, work: () => Promise<T>): Promise<T> {
  const end = performance.now() + forMs;
  for (let tried = 0; ; tried++) {
    try {
      return await work();
    } catch (error) {
      const away = error instanceof HotcellError && error.code === 'store_unavailable';
      if (!away || performance.now() > end) throw error;
      log.warn({ error }, `could not ${what}: tried again`);
      await pause(Math.min(100 * 2 ** tried, 5_000));
    }
  }
}
