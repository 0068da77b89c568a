import { detached, interrupted } from './exit-code.ts';

/** A second Ctrl-C within this time cancels the run. */
export const secondWithinMs = 3_000;

/**
 * The first Ctrl-C lets the run continue and stops following it after a moment. A second one in that moment cancels the
 * run, and a third does not wait for the cancel.
 */
export class Interrupts implements Disposable {
  readonly #letGo = new AbortController();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #run: { hint: () => void; cancel: () => void } | undefined;
  readonly #listener = () => this.#interrupt();

  constructor() {
    process.on('SIGINT', this.#listener);
  }

  /** What the command exits with when it stops early: a run that was accepted goes on without it. */
  get exitCode(): number {
    return this.#run ? detached : interrupted;
  }

  /** Aborts when this command should end: at once while no run is accepted. */
  get signal(): AbortSignal {
    return this.#letGo.signal;
  }

  accepted(run: { hint: () => void; cancel: () => void }): void {
    this.#run = run;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    process.off('SIGINT', this.#listener);
  }

  #interrupt(): void {
    this.#count++;
    if (!this.#run || this.#count > 2) return this.#letGo.abort();
    if (this.#count === 1) {
      this.#run.hint();
      this.#timer = setTimeout(() => this.#letGo.abort(), secondWithinMs);
      return;
    }
    clearTimeout(this.#timer);
    this.#run.cancel();
  }
}
