import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Queues } from '@hotcell/outside/queue/queues.ts';

const lookAgainMs = 250;

/** How much may wait. A queue that is full says so at once, rather than growing until Valkey refuses everything. */
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
      `${depth} runs wait in the queue ${queue}, and ${this.#mostQueued} may: ask again later, or start more workers`,
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
      // A run is accepted in the buckets: it does not depend on Valkey being there, nor does the bound on its tickets.
      return 0;
    }
  }
}
