interface Bucket {
  tokens: number;
  at: number;
}

/** Those that asked for nothing for longest are forgotten first: they have most of their tokens again. */
const mostBuckets = 10_000;

/** How often something may happen for each of many: `burst` times at once, and then `perSecond`. */
export class TokenBuckets {
  readonly #buckets = new Map<string, Bucket>();

  take(of: string, { perSecond, burst }: { perSecond: number; burst: number }, now: number): boolean {
    const { tokens, at } = this.#buckets.get(of) ?? { tokens: burst, at: now };
    const left = Math.min(burst, tokens + ((now - at) / 1000) * perSecond);
    this.#put(of, { tokens: left >= 1 ? left - 1 : left, at: now });
    return left >= 1;
  }

  giveBack(of: string): void {
    const bucket = this.#buckets.get(of);
    if (bucket) bucket.tokens += 1;
  }

  #put(of: string, bucket: Bucket): void {
    this.#buckets.delete(of);
    this.#buckets.set(of, bucket);
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= mostBuckets) break;
      this.#buckets.delete(oldest);
    }
  }
}
