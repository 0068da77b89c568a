/** How long each step took; by a clock that nobody sets. */
export class Clock {
  #last = performance.now();
  #stagedMs = 0;
  #sealedMs = 0;

  staged(): void {
    this.#stagedMs = this.#lap();
  }

  sealed(): void {
    this.#sealedMs = this.#lap();
  }

  /** What is over since the cell was sealed and was not the program is the commit: logs and outputs on their way. */
  laps(ranMs: number): { stagedMs: number; sealedMs: number; ranMs: number; committedMs: number } {
    const committedMs = Math.max(0, this.#lap() - ranMs);
    return { stagedMs: this.#stagedMs, sealedMs: this.#sealedMs, ranMs, committedMs };
  }

  #lap(): number {
    const now = performance.now();
    const lap = Math.round(now - this.#last);
    this.#last = now;
    return lap;
  }
}

/** Clocks of hosts differ, and are set while a run is executed: nothing ends before what came before it. */
export function notBefore(at: Date, ...earlier: readonly (string | undefined)[]): string {
  return [at.toISOString(), ...earlier.filter((time) => time !== undefined)].toSorted().at(-1) ?? at.toISOString();
}
