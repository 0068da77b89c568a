/** Who had the room last, and when it gives it back. */
let last = Promise.resolve();

/**
 * Room for the large objects of one run. There is one in a process, and a run keeps it until its verification is over:
 * sixteen runs at a time, each of a hostile size, would fill the memory together.
 */
export class LargeRoom implements Disposable {
  #giveBack: (() => void) | undefined;

  get isTaken(): boolean {
    return this.#giveBack !== undefined;
  }

  async take(): Promise<void> {
    if (this.isTaken) return;
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    this.#giveBack = resolve;
    await before;
  }

  [Symbol.dispose](): void {
    this.#giveBack?.();
  }
}
