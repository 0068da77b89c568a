import { sayAlive } from '@hotcell/outside/process/alive.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { HalfUploads } from './half-uploads.ts';
import { restUnlessAborted } from '@hotcell/contract/waits.ts';

const everyMs = 3_000;
/** How long a round may hold up the next: one container of a hung runtime takes minutes. */
const roundMs = 10_000;
/** Longer than a live worker's heartbeat can stay away, even after Valkey restarts empty. */
const goneMs = 8_000;
/** A cell that has ended holds nothing but what its worker may still be reading: it goes sooner. */
const endedMs = 4_000;

/** Which workers count as alive. One that is missing keeps its cells for a while. */
export class WorkerRoll {
  readonly #missedSince = new Map<string, number>();
  #names = new Set<string>();

  /** True if a worker is missing that was there the last time. */
  hear(names: readonly string[]): boolean {
    const before = this.#names;
    this.#names = new Set(names);
    for (const name of names) this.#missedSince.delete(name);
    return [...before].some((name) => !this.#names.has(name));
  }

  isAlive(name: string, hasEnded: boolean, now: number): boolean {
    if (this.#names.has(name)) return true;
    const since = this.#missedSince.get(name) ?? now;
    this.#missedSince.set(name, since);
    return now - since < (hasEnded ? endedMs : goneMs);
  }
}

export interface House {
  live: Pick<Live, 'workers'>;
  log: Logger;
  reap: (isAlive: (worker: string, hasEnded: boolean) => boolean) => Promise<void>;
  uploads: Pick<HalfUploads, 'suspect' | 'sweep'>;
}

/** Removes what dead workers left in the engine and in the store, round after round. */
export async function keepHouse({ live, log, reap, uploads }: House, ends: AbortSignal): Promise<void> {
  const heard = new WorkerRoll();
  const isAlive = (name: string, hasEnded: boolean) => heard.isAlive(name, hasEnded, performance.now());
  uploads.suspect();
  while (!ends.aborted) {
    sayAlive('executor-worker');
    const rounds = [
      live.workers.all().then((workers) => {
        if (heard.hear(workers.map((worker) => worker.name))) uploads.suspect();
        return reap(isAlive);
      }),
      uploads.sweep(),
    ].map((round) =>
      round.catch((error: unknown) => log.warn({ error }, 'failed to look for what dead workers left; trying again')),
    );
    await Promise.race([Promise.all(rounds), restUnlessAborted(roundMs, ends)]);
    await restUnlessAborted(everyMs, ends);
  }
}
