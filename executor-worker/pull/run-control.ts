import { isTakenOver } from '@hotcell/record/claim.ts';
import { readCancelMark } from '@hotcell/record/run-marks.ts';
import type { RunBeat } from '@hotcell/contract/heartbeats.ts';
import type { Stop } from '@hotcell/contract/decide-outcome.ts';
import { restUnlessAborted } from '@hotcell/contract/waits.ts';
import type { Worker } from '../worker.ts';
import { StepNudges } from '../session/step-nudges.ts';
import type { Held } from './blockers.ts';
import type { Listener } from './heartbeat.ts';

const lookAgainMs = 2_000;

/**
 * A run's status out, and its stops in: a cancel, another attempt that takes it over, this worker's own end. The first
 * stop counts. Valkey only says when to look; only the bucket is believed.
 */
export class RunControl implements Listener, Disposable {
  beat: RunBeat;
  /** What it has of this worker, for those that wait for it. */
  holds: Held | undefined;
  /** Of a session. */
  readonly nudges = new StepNudges();
  readonly #worker: Worker;
  readonly #stop = new AbortController();
  readonly #gone = new AbortController();
  readonly #listening: Disposable;
  #attempt = 0;
  #looking: Promise<void> | undefined;
  #lockLost = false;

  constructor(worker: Worker, beat: RunBeat) {
    this.#worker = worker;
    this.beat = beat;
    this.#listening = worker.heartbeat.add(this);
    worker.runs.set(beat.run, this);
  }

  [Symbol.dispose](): void {
    this.#gone.abort();
    this.#listening[Symbol.dispose]();
    this.#worker.runs.delete(this.beat.run);
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

  /** Reports the status now; every heartbeat repeats it. A wait says why. The answer tells of a cancel. */
  async tell(status: RunBeat['status'], waiting?: RunBeat['waiting']): Promise<void> {
    const { waiting: _, ...rest } = this.beat;
    const since = new Date().toISOString();
    this.beat = { ...rest, status, since, attempt: this.#attempt, ...(waiting ? { waiting } : {}) };
    const heard = await this.#worker.live.tell(this.beat).catch((error: unknown) => {
      this.#worker.log.info({ run: this.beat.run, error }, 'failed to report the status; the next heartbeat will');
      return false;
    });
    if (heard) await this.look();
  }

  /** As long as it waits, the next heartbeats say what is in its way by then. */
  keepTelling(why: () => RunBeat['waiting']): Disposable {
    const timer = setInterval(() => {
      const waiting = why();
      if (waiting && this.beat.status === 'queued') this.beat = { ...this.beat, waiting };
    }, lookAgainMs);
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }

  /** Between two steps: a stopped run takes no further one. */
  goOn(): void {
    this.#stop.signal.throwIfAborted();
  }

  get hasTicket(): boolean {
    return !this.#lockLost;
  }

  drain(): void {
    this.#end({ kind: 'draining' });
  }

  /** Another worker may get the ticket; but until it claims the next attempt, this one is good. */
  lockLost(): void {
    if (this.#lockLost) return;
    this.#lockLost = true;
    void this.#lookOn();
  }

  /** This attempt is over without a result: the next one need not wait for its heartbeat to expire. */
  async silence(): Promise<void> {
    this.#listening[Symbol.dispose]();
    const { run, nonce } = this.beat;
    await this.#worker.live.silence(run, nonce).catch((error: unknown) => {
      this.#worker.log.info({ run, error }, 'failed to clear the heartbeat; it expires by itself');
    });
  }

  async #lookOn(): Promise<void> {
    while (!this.#gone.signal.aborted && !this.stopped) {
      await this.look();
      await restUnlessAborted(lookAgainMs, this.#gone.signal);
    }
  }

  /** Asks the bucket about this run. Callers that come meanwhile share the answer. */
  look(): Promise<void> {
    this.#looking ??= this.#ask().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #ask(): Promise<void> {
    const { store, log } = this.#worker;
    const { run } = this.beat;
    try {
      const [mark, takenOver] = await Promise.all([
        readCancelMark(store, run),
        this.#attempt > 0 && isTakenOver(store, run, this.#attempt),
      ]);
      if (mark) this.#end({ kind: 'cancelled', by: mark.by, reason: mark.reason });
      if (takenOver) this.#end({ kind: 'lost_claim' });
    } catch (error) {
      log.warn({ run, error }, 'failed to ask the bucket whether this run is still ours; trying again');
    }
  }

  #end(stop: Stop): void {
    if (!this.stopped && !this.#gone.signal.aborted) this.#stop.abort(stop);
  }
}
