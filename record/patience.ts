import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';

/** How a step is tried. */
export type StepRetry = <T>(log: Logger, what: string, step: () => Promise<T>) => Promise<T>;

const forMs = 120_000;

/** For writes that must not be lost: while the store is away, again for two minutes, with longer and longer pauses. */
export const patiently: StepRetry = async (log, what, step) => {
  const end = performance.now() + forMs;
  for (let tried = 0; ; tried++) {
    try {
      return await step();
    } catch (error) {
      const away = error instanceof HotcellError && error.code === 'store_unavailable';
      if (!away || performance.now() > end) throw error;
      log.warn({ error }, `could not ${what}; trying again`);
      await pause(Math.min(100 * 2 ** tried, 5_000));
    }
  }
};

/** For a caller who waits for the answer. */
export const once: StepRetry = (_log, _what, step) => step();
