import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';

/** How long the API may be away (a restart, a rolling update) before the client gives up. */
const patienceMs = 120_000;

function mayPass(error: unknown): boolean {
  return error instanceof HotcellError && error.status === 503;
}

/** How long calls have failed in a row, and how long to pause before the next try. */
export class Patience {
  #failingSince: number | undefined;
  #pauseMs = 100;

  succeeded(): void {
    this.#failingSince = undefined;
    this.#pauseMs = 100;
  }

  /** Returns when the call may be tried again; rethrows an error that will not pass or has lasted too long. */
  async failed(error: unknown, signal: AbortSignal | undefined): Promise<void> {
    if (!mayPass(error)) throw error;
    const now = performance.now();
    this.#failingSince ??= now;
    if (now - this.#failingSince > patienceMs) throw error;
    await pause(this.#pauseMs, undefined, signal ? { signal } : {});
    this.#pauseMs = Math.min(this.#pauseMs * 2, 3_000);
  }
}
