import { setTimeout as pause } from 'node:timers/promises';

const listEveryMs = 2_000;

/**
 * Which keys there are, by their ids, for callers with keys that this process has not seen. Each of them waits for a
 * listing that begins after it asked, and all share it: a thousand guesses cost as much as one.
 */
export class KeyIds {
  readonly #list: () => AsyncIterable<string>;
  #ids: ReadonlySet<string> = new Set();
  #begunAt = Number.NEGATIVE_INFINITY;
  #next: Promise<void> | undefined;

  constructor(list: () => AsyncIterable<string>) {
    this.#list = list;
  }

  async has(id: string): Promise<boolean> {
    if (this.#ids.has(id)) return true;
    this.#next ??= this.#listNext();
    await this.#next;
    return this.#ids.has(id);
  }

  async #listNext(): Promise<void> {
    await pause(Math.max(0, this.#begunAt + listEveryMs - performance.now()));
    // Who asks from now on waits for the one after this.
    this.#next = undefined;
    this.#begunAt = performance.now();
    this.#ids = new Set(await Array.fromAsync(this.#list()));
  }
}
