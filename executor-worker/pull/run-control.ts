import { setTimeout as pause } from 'node:timers/promises';
import { isTakenOver } from '@hotcell/record/claim.ts';
import { readCancelMark } from '@hotcell/record/run-marks.ts';
import type { RunBeat } from '@hotcell/contract/heartbeats.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Stop } from '@hotcell/contract/decide-outcome.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { Heartbeat, Listener } from './heartbeat.ts';

export interface RunControlDeps {
  store: Buckets;
  live: Live;
  heartbeat: Heartbeat;
  log: Logger;
  runs: Map<RunId, RunControl>;
}

const lookAgainMs = 2_000;

/**
 * Everything that may end a run from outside while it is here: a cancel, another attempt that took it over, this
 * worker's own end. The first cause counts. Valkey only ever says where to look: what is believed stands in the bucket.
 */
export class RunControl implements Listener, Disposable {
  beat: RunBeat;
  readonly #deps: RunControlDeps;
  readonly #stop = new AbortController();
  readonly #gone = new AbortController();
  readonly #listening: Disposable;
  #attempt = 0;
  #looking: Promise<void> | undefined;
  #lockLost = false;

  constructor(deps: RunControlDeps, beat: RunBeat) {
    this.#deps = deps;
    this.beat = beat;
    this.#listening = deps.heartbeat.add(this);
    deps.runs.set(beat.run, this);
  }

  [Symbol.dispose](): void {
    this.#gone.abort();
    this.#listening[Symbol.dispose]();
    this.#deps.runs.delete(this.beat.run);
  }

  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  get stopped(): Stop | undefined {
    // Only `#end` aborts it, always with a Stop.
    return this.#stop.signal.aborted ? (this.#stop.signal.reason as Stop) : undefined;
  }

  claimed(attempt: number): void {
    this.#attempt = attempt;
  }

  /** How far it is: told now, and said again by every heartbeat. A wait says why. A cancel is heard in the same breath. */
  async tell(status: RunBeat['status'], waiting?: RunBeat['waiting']): Promise<void> {
    const { waiting: _, ...rest } = this.beat;
    const since = new Date().toISOString();
    this.beat = { ...rest, status, since, attempt: this.#attempt, ...(waiting ? { waiting } : {}) };
    const heard = await this.#deps.live.tell(this.beat).catch((error: unknown) => {
      this.#deps.log.info({ run: this.beat.run, error }, 'its status could not be told: the heartbeat will');
      return false;
    });
    if (heard) await this.look();
  }

  cancelled(): void {
    void this.look();
  }

  doubt(): void {
    void this.look();
  }

  /** Between two steps: a run that was ended takes no further one. */
  goOn(): void {
    this.#stop.signal.throwIfAborted();
  }

  get hasTicket(): boolean {
    return !this.#lockLost;
  }

  drain(): void {
    this.#end({ kind: 'draining' });
  }

  /** The ticket may be given to another worker; but as long as nobody claimed the next attempt, this one is good. */
  lockLost(): void {
    if (this.#lockLost) return;
    this.#lockLost = true;
    void this.#lookOn();
  }

  /** This attempt is over without a result: the next need not wait until its heartbeat has faded. */
  async silence(): Promise<void> {
    this.#listening[Symbol.dispose]();
    const { run, nonce } = this.beat;
    await this.#deps.live.silence(run, nonce).catch((error: unknown) => {
      this.#deps.log.info({ run, error }, 'its heartbeat fades by itself');
    });
  }

  async #lookOn(): Promise<void> {
    while (!this.#gone.signal.aborted && !this.stopped) {
      await this.look();
      await pause(lookAgainMs, undefined, { signal: this.#gone.signal }).catch(() => {
        // The run is over here.
      });
    }
  }

  /** What the bucket says of this run. A second who asks meanwhile gets the same answer. */
  look(): Promise<void> {
    this.#looking ??= this.#ask().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #ask(): Promise<void> {
    const { store, log } = this.#deps;
    const { run } = this.beat;
    try {
      const [mark, takenOver] = await Promise.all([
        readCancelMark(store, run),
        this.#attempt > 0 && isTakenOver(store, run, this.#attempt),
      ]);
      if (mark) this.#end({ kind: 'cancelled', by: mark.by, reason: mark.reason });
      if (takenOver) this.#end({ kind: 'lost_claim' });
    } catch (error) {
      log.warn({ run, error }, 'the bucket could not be asked whether this run is still ours: asked again');
    }
  }

  #end(stop: Stop): void {
    if (!this.stopped && !this.#gone.signal.aborted) this.#stop.abort(stop);
  }
}
