import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';

/** How long the API may be unreachable (a restart, a rolling update) before the client gives up. */
const giveUpAfterMs = 120_000;

/** Not available, or more at once than this tenant may have: both end by themselves. */
const passing = new Set([429, 503]);

/** Pauses between calls that fail in a row, longer each time. */
export class Backoff {
  #failingSince: number | undefined;
  #pauseMs = 100;

  succeeded(): void {
    this.#failingSince = undefined;
    this.#pauseMs = 100;
  }

  /** Returns when it is time to try again. Rethrows an error that is permanent or has lasted too long. */
  async failed(error: unknown, signal: AbortSignal | undefined): Promise<void> {
    if (!(error instanceof HotcellError && passing.has(error.status))) throw error;
    const now = performance.now();
    this.#failingSince ??= now;
    if (now - this.#failingSince > giveUpAfterMs) throw error;
    await pause(this.#pauseMs, undefined, signal ? { signal } : {});
    this.#pauseMs = Math.min(this.#pauseMs * 2, 3_000);
  }
}
