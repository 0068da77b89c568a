import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Leadership } from '@hotcell/outside/live/leadership.ts';

/** Leading a task that one producer does for all. The lead lapses after `forMs` unless it is kept. */
export class Lead {
  readonly #leadership: Pick<Leadership, 'lead' | 'resign'>;
  readonly #task: string;
  readonly #me: string;
  readonly #forMs: number;
  readonly #now: () => number;
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(
    leadership: Pick<Leadership, 'lead' | 'resign'>,
    { task, me, forMs, now = () => performance.now() }: { task: string; me: string; forMs: number; now?: () => number },
  ) {
    this.#leadership = leadership;
    this.#task = task;
    this.#me = me;
    this.#forMs = forMs;
    this.#now = now;
  }

  /** True while no other producer leads. */
  async take(): Promise<boolean> {
    const asked = this.#now();
    const leads = await this.#leadership.lead(this.#task, this.#me, this.#forMs);
    this.#renewedAt = leads ? asked : Number.NEGATIVE_INFINITY;
    return leads;
  }

  /** Between the steps of long work. `conflict` if another producer has taken over: then the work ends. */
  async keep(): Promise<void> {
    if (this.#now() - this.#renewedAt < this.#forMs / 3) return;
    if (!(await this.take())) throw new LeadLost(this.#task);
  }

  async resign(): Promise<void> {
    await this.#leadership.resign(this.#task, this.#me);
  }
}

export class LeadLost extends HotcellError {
  constructor(task: string) {
    super('conflict', `Another producer leads the ${task} now, and goes on with it.`);
  }
}
