import { HotcellError } from '@hotcell/contract/errors.ts';

const retryAfterSeconds = 5;

/**
 * A tenant can hold half at most. What is larger counts as a little less: it is granted in the end, beside the little that
 * its tenant may hold, and never two of its kind at once.
 */
const mostCounted = 7 / 16;

/** Gives back what was taken; a second call changes nothing. */
export type GiveBack = () => void;

interface Waiting {
  amount: number;
  enter: (giveBack: GiveBack) => void;
}

/**
 * Shares out what a process has of one thing. A tenant may hold as much as stays free: one alone gets half, two get a
 * third each, and something is left for the next one, however many there are and whatever they ask for (decision 0070).
 */
export class FairShare {
  /** The name of the limit, for clients. */
  readonly #limit: string;
  /** What is counted, for people. */
  readonly #what: string;
  readonly #total: number;
  #free: number;
  readonly #held = new Map<string, number>();
  /** By tenant; the tenant whose turn is longest ago comes first. */
  readonly #waiting = new Map<string, Set<Waiting>>();

  constructor({ limit, what, total }: { limit: string; what: string; total: number }) {
    this.#limit = limit;
    this.#what = what;
    this.#total = total;
    this.#free = total;
  }

  get name(): string {
    return this.#limit;
  }

  /** How many callers wait in turn, of all tenants. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, own) => sum + own.size, 0);
  }

  /** At once, or `too_many` or `overloaded` with the name of the limit. */
  take(tenant: string, amount: number): GiveBack {
    const taken = this.tryTake(tenant, amount);
    if (taken) return taken;
    throw this.#refusal(tenant);
  }

  tryTake(tenant: string, amount: number): GiveBack | undefined {
    const counted = Math.min(amount, Math.floor(this.#total * mostCounted));
    if (this.#heldBy(tenant) + counted > this.#free - counted) return undefined;
    this.#move(tenant, counted);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#move(tenant, -counted);
      this.#admit();
    };
  }

  /** When there is room; if the signal aborts before, the same errors. Of a tenant the oldest that fits is the next. */
  async takeInTurn(tenant: string, amount: number, signal?: AbortSignal): Promise<GiveBack> {
    const taken = this.tryTake(tenant, amount);
    if (taken) return taken;
    const { promise, resolve, reject } = Promise.withResolvers<GiveBack>();
    const own = this.#waiting.get(tenant) ?? new Set();
    const waiting: Waiting = { amount, enter: resolve };
    this.#waiting.set(tenant, own.add(waiting));
    const giveUp = () => {
      own.delete(waiting);
      if (own.size === 0 && this.#waiting.get(tenant) === own) this.#waiting.delete(tenant);
      reject(this.#refusal(tenant));
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    if (signal?.aborted) giveUp();
    return await promise.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  #admit(): void {
    for (const [tenant, own] of this.#waiting)
      for (const waiting of own) {
        const taken = this.tryTake(tenant, waiting.amount);
        if (!taken) continue;
        own.delete(waiting);
        this.#waiting.delete(tenant);
        // Behind the others: the loop over tenants comes by again, after them.
        if (own.size > 0) this.#waiting.set(tenant, own);
        waiting.enter(taken);
        break;
      }
  }

  #heldBy(tenant: string): number {
    return this.#held.get(tenant) ?? 0;
  }

  #move(tenant: string, amount: number): void {
    const held = this.#heldBy(tenant) + amount;
    this.#free -= amount;
    if (held > 0) this.#held.set(tenant, held);
    else this.#held.delete(tenant);
  }

  #refusal(tenant: string): HotcellError {
    const own = this.#heldBy(tenant) > 0;
    const why = own
      ? `The tenant ${tenant} has as many ${this.#what} as it may have now`
      : `This process has no room for more ${this.#what}`;
    return new HotcellError(own ? 'too_many' : 'overloaded', `${why} (limit ${this.#limit}). Try again later.`, {
      extra: { limit: this.#limit, retryAfterSeconds },
    });
  }
}
