import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Queues } from '@hotcell/outside/queue/queues.ts';

const lookAgainMs = 250;

/** Bounds how many runs wait: a full queue refuses new ones at once, before Valkey is full and refuses everything. */
export class Bounds {
  readonly #queues: Queues;
  readonly #mostQueued: number;
  readonly #seen = new Map<string, { depth: number; until: number }>();

  constructor(queues: Queues, mostQueued: number) {
    this.#queues = queues;
    this.#mostQueued = mostQueued;
  }

  async check(queue: string): Promise<void> {
    const depth = await this.#depth(queue);
    if (depth < this.#mostQueued) return;
    throw new HotcellError(
      'queue_full',
      `The queue ${queue} is full: ${depth} runs wait, and at most ${this.#mostQueued} may. Try again later, or start more workers.`,
      { extra: { retryAfterSeconds: 5 } },
    );
  }

  async #depth(queue: string): Promise<number> {
    const now = Date.now();
    const seen = this.#seen.get(queue);
    if (seen && seen.until > now) return seen.depth;
    try {
      const depth = await this.#queues.of(queue).depth();
      this.#seen.set(queue, { depth, until: now + lookAgainMs });
      return depth;
    } catch {
      // Runs are accepted in the buckets, with Valkey or without it: no bound may depend on it.
      return 0;
    }
  }
}
