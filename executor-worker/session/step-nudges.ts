import { restUnlessAborted } from '@hotcell/contract/waits.ts';

/** What others say of a session's steps. Losing it loses nothing: the record is looked at again in any case. */
export class StepNudges {
  #wake = new AbortController();
  readonly #interrupts = new Set<(step: number) => void>();

  recorded(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  interrupt(step: number): void {
    for (const listener of this.#interrupts) listener(step);
  }

  /** The signal is taken before the record is read, so that a nudge in between is not lost. */
  get next(): AbortSignal {
    return this.#wake.signal;
  }

  onInterrupt(listener: (step: number) => void): Disposable {
    this.#interrupts.add(listener);
    return { [Symbol.dispose]: () => void this.#interrupts.delete(listener) };
  }
}

export async function nudgedWithin(ms: number, nudged: AbortSignal, over: AbortSignal): Promise<void> {
  await restUnlessAborted(ms, AbortSignal.any([nudged, over]));
}
