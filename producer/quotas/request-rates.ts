import type { EffectiveQuota } from '@hotcell/contract/quota.ts';
import { quotaExceeded } from './exceeded.ts';

interface Bucket {
  /** How many requests may come at once. */
  tokens: number;
  at: number;
}

const burstSeconds = 2;
/** Tenants that asked nothing for so long have a full bucket again, and need none. */
const mostBuckets = 10_000;

/** How often each tenant asks this process. */
export class RequestRates {
  readonly #buckets = new Map<string, Bucket>();

  /** Counts one request, or refuses it. */
  take(tenant: string, quota: EffectiveQuota, now = performance.now()): void {
    const { limit } = quota.requestsPerSecond;
    if (limit === Number.POSITIVE_INFINITY) return;
    const most = limit * burstSeconds;
    const { tokens, at } = this.#buckets.get(tenant) ?? { tokens: most, at: now };
    const left = Math.min(most, tokens + ((now - at) / 1000) * limit);
    this.#buckets.delete(tenant);
    this.#buckets.set(tenant, { tokens: left >= 1 ? left - 1 : left, at: now });
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size <= mostBuckets) break;
      this.#buckets.delete(oldest);
    }
    if (left < 1) throw quotaExceeded(tenant, 'requestsPerSecond', quota, limit);
  }
}
