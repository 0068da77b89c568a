import { setTimeout as pause } from 'node:timers/promises';
import { BullQueue } from './bull-queue.ts';
import type { Queue } from './queue.ts';
import type { QueueSettings } from './queue-names.ts';

/** The queues of an installation, one for each capability. */
export class Queues implements AsyncDisposable {
  readonly #settings: QueueSettings;
  readonly #queues = new Map<string, BullQueue>();

  constructor(settings: QueueSettings) {
    this.#settings = settings;
  }

  of(name: string): Queue {
    const found = this.#queues.get(name) ?? new BullQueue(this.#settings, name);
    this.#queues.set(name, found);
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([...this.#queues.values()].map((queue) => Promise.race([queue.close(), pause(1_000)])));
  }
}
