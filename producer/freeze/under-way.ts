import type { Digest } from '@hotcell/contract/digest.ts';
import type { Lease } from '@hotcell/record/gc/freeze-lease.ts';

/** An upload under way: its lease, and the sizes of contents that were seen in the store since it was opened. */
export interface UnderWay {
  lease: Lease;
  seen: Map<Digest, number>;
}

/**
 * What this process knows of uploads under way. A collector that starts later leaves their tenants alone for as long as
 * their leases are good, so what was seen since then is still there and need not be looked for again. Bounded: what is
 * not known is looked up.
 */
export class UnderWays {
  readonly #most: { uploads: number; contents: number };
  readonly #known = new Map<string, UnderWay>();
  #contents = 0;

  constructor(most = { uploads: 1000, contents: 200_000 }) {
    this.#most = most;
  }

  get(tenant: string, id: string, now = Date.now()): UnderWay | undefined {
    const known = this.#known.get(`${tenant}/${id}`);
    return known && known.lease.goodUntil > now ? known : undefined;
  }

  /** A lease that found the collector at work says nothing of what was there before it. */
  add(tenant: string, underWay: UnderWay): void {
    if (!underWay.lease.trustsOld) return;
    this.remove(tenant, underWay.lease.id);
    this.#known.set(`${tenant}/${underWay.lease.id}`, underWay);
    this.#contents += underWay.seen.size;
    this.#forgetOldest();
  }

  saw(tenant: string, id: string, digest: Digest, size: number): void {
    const known = this.#known.get(`${tenant}/${id}`);
    if (!known || known.seen.has(digest)) return;
    known.seen.set(digest, size);
    this.#contents += 1;
    this.#forgetOldest();
  }

  remove(tenant: string, id: string): void {
    this.#forget(`${tenant}/${id}`);
  }

  #forgetOldest(): void {
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= this.#most.uploads && this.#contents <= this.#most.contents) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#contents -= this.#known.get(key)?.seen.size ?? 0;
    this.#known.delete(key);
  }
}
