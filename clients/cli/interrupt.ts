/** How long after the first Ctrl-C a second one still means: end the run. */
const secondWithinMs = 3_000;

/**
 * The first Ctrl-C leaves the run alone and lets go of it after a moment; a second one in that moment cancels it, and a
 * third does not wait for that.
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

  /** Aborted when we are to end: at once as long as no run was accepted. */
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
