/**
 * How many bytes of bodies are held at once. A body that is parsed takes several times its size, and many large ones
 * at once would take the process down for everybody: the rest waits in its turn, unread in its connection.
 */
export class Room {
  #free: number;
  readonly #waiting: { bytes: number; enter: () => void }[] = [];

  constructor(bytes: number) {
    this.#free = bytes;
  }

  /** Resolves when there is room; what it gives gives the room back, once. */
  async take(bytes: number): Promise<() => void> {
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
