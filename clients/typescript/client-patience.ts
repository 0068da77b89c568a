import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';

/** How long an API may be away (a restart, a rolling update) before waiting for it is given up. */
const patienceMs = 120_000;

function mayPass(error: unknown): boolean {
  return error instanceof HotcellError && error.status === 503;
}

/** For how long it has failed in a row, and how long to pause before the next try. */
export class Patience {
  #failingSince: number | undefined;
  #pauseMs = 100;

  succeeded(): void {
    this.#failingSince = undefined;
    this.#pauseMs = 100;
  }

  /** Returns when it may be tried again; rethrows what will not pass, or has not passed for long. */
  async failed(error: unknown, signal: AbortSignal | undefined): Promise<void> {
    if (!mayPass(error)) throw error;
    const now = performance.now();
    this.#failingSince ??= now;
    if (now - this.#failingSince > patienceMs) throw error;
    await pause(this.#pauseMs, undefined, signal ? { signal } : {});
    this.#pauseMs = Math.min(this.#pauseMs * 2, 3_000);
  }
}
