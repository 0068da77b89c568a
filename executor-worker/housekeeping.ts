import { setTimeout as pause } from 'node:timers/promises';
import { sayAlive } from '@hotcell/outside/alive.ts';
import type { Live } from '@hotcell/outside/live.ts';
import type { Logger } from '@hotcell/outside/log.ts';

const everyMs = 10_000;
/** Longer than a worker that lives can go unheard, also after Valkey began anew with nothing. */
const goneMs = 20_000;

/** Who counts as alive: whoever was heard lately. Whoever is missed is missed for a while before his cells go. */
export class Heard {
  readonly #missedSince = new Map<string, number>();
  #names = new Set<string>();

  hear(names: readonly string[]): void {
    this.#names = new Set(names);
    for (const name of names) this.#missedSince.delete(name);
  }

  isAlive(name: string, now: number): boolean {
    if (this.#names.has(name)) return true;
    const since = this.#missedSince.get(name) ?? now;
    this.#missedSince.set(name, since);
    return now - since < goneMs;
  }
}

/** Now and then, take away what dead workers left in the engine. */
export async function keepHouse(
  { live, log }: { live: Live; log: Logger },
  reap: (isAlive: (worker: string) => boolean) => Promise<void>,
  ends: AbortSignal,
): Promise<void> {
  const heard = new Heard();
  while (!ends.aborted) {
    sayAlive('executor-worker');
    try {
      heard.hear((await live.workers()).map((worker) => worker.name));
      await reap((name) => heard.isAlive(name, performance.now()));
    } catch (error) {
      log.warn({ error }, 'what dead workers left could not be looked for: looked for again');
    }
    await pause(everyMs, undefined, { signal: ends }).catch(() => {
      // Asked to end: the loop sees it.
    });
  }
}
