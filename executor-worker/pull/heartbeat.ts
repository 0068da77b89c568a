import type { RunBeat } from '@hotcell/contract/heartbeats.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';

const everyMs = 1_000;
/** Other workers take an attempt for dead when its heartbeat stays away this long. */
const silentMs = 4_000;

export interface Listener {
  beat: RunBeat;
  /** Asks the bucket about the run: it may be cancelled, or another worker may have been given it. */
  look(): Promise<void>;
}

/** Reports every second which runs are alive here; the answer says which of them to cancel. */
export class Heartbeat implements Disposable {
  readonly #live: Pick<Live, 'beat'>;
  readonly #log: Logger;
  readonly #runs = new Set<Listener>();
  readonly #timer: NodeJS.Timeout;
  #saidAt = performance.now();
  #saying = false;

  constructor(live: Pick<Live, 'beat'>, log: Logger) {
    this.#live = live;
    this.#log = log;
    this.#timer = setInterval(() => void this.#say(), everyMs);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  add(listener: Listener): Disposable {
    this.#runs.add(listener);
    return { [Symbol.dispose]: () => void this.#runs.delete(listener) };
  }

  /** Now, not at the next second. */
  hear(): void {
    void this.#say();
  }

  async #say(): Promise<void> {
    // A process that was suspended wakes up here, before anything else acts on what it knew.
    const silent = performance.now() - this.#saidAt > silentMs;
    if (silent) for (const run of this.#runs) void run.look();
    if (this.#saying) return;
    this.#saying = true;
    try {
      const runs = [...this.#runs];
      const marks = await this.#live.beat(runs.map((run) => run.beat));
      this.#saidAt = performance.now();
      for (const mark of marks) void runs.find((run) => run.beat.run === mark.run)?.look();
    } catch (error) {
      if (this.#runs.size > 0) this.#log.warn({ error }, 'the heartbeat does not reach Valkey');
    } finally {
      this.#saying = false;
    }
  }
}
