/**
 * How many bytes of request bodies are held at once. A body that is parsed takes several times its size, and many large
 * ones at once would exhaust the memory of this process: the rest wait their turn, unread in their connections.
 */
export class BodyBudget {
  #free: number;
  readonly #waiting: { bytes: number; enter: () => void }[] = [];

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /** Resolves when the bytes are free, with a function that gives them back once. */
  async reserve(bytes: number): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ bytes, enter: resolve });
    this.#admit();
    await promise;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#free += bytes;
      this.#admit();
    };
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next && next.bytes <= this.#free; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#free -= next.bytes;
      next.enter();
    }
  }
}
