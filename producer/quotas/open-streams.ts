import type { FairShare, GiveBack } from '@hotcell/outside/process/fair-share.ts';
import { quotaExceeded } from '@hotcell/contract/quota-exceeded.ts';
import type { Quotas } from './quota-book.ts';

/** Streams and waits: a tenant holds at most its quota of them, and at most its share of what this process has. */
export class OpenStreams {
  readonly #share: FairShare;
  readonly #quotas: Pick<Quotas, 'of'>;
  readonly #open = new Map<string, number>();

  constructor(share: FairShare, quotas: Pick<Quotas, 'of'>) {
    this.#share = share;
    this.#quotas = quotas;
  }

  of(tenant: string): number {
    return this.#open.get(tenant) ?? 0;
  }

  take(tenant: string): GiveBack {
    const { limit } = this.#quotas.of(tenant).openStreams;
    const used = this.of(tenant);
    if (used >= limit) throw quotaExceeded(tenant, 'openStreams', { limit, used });
    return this.#counted(tenant, this.#share.take(tenant, 1));
  }

  /** Undefined where there is no room. */
  tryTake(tenant: string): GiveBack | undefined {
    if (this.of(tenant) >= this.#quotas.of(tenant).openStreams.limit) return undefined;
    const taken = this.#share.tryTake(tenant, 1);
    return taken && this.#counted(tenant, taken);
  }

  #counted(tenant: string, giveBack: GiveBack): GiveBack {
    this.#open.set(tenant, this.of(tenant) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = this.of(tenant) - 1;
      if (left > 0) this.#open.set(tenant, left);
      else this.#open.delete(tenant);
      giveBack();
    };
  }
}
