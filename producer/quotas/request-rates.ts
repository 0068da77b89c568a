import type { EffectiveQuota } from '@hotcell/contract/quota.ts';
import { TokenBuckets } from '../bounds/token-buckets.ts';
import { quotaExceeded } from '@hotcell/contract/quota-exceeded.ts';

const burstSeconds = 2;

/** How often each tenant asks this process. */
export class RequestRates {
  readonly #buckets = new TokenBuckets();

  /** Counts one request, or refuses it. */
  take(tenant: string, quota: EffectiveQuota, now = performance.now()): void {
    const { limit } = quota.requestsPerSecond;
    if (limit === Number.POSITIVE_INFINITY) return;
    if (this.#buckets.take(tenant, { perSecond: limit, burst: limit * burstSeconds }, now)) return;
    throw quotaExceeded(tenant, 'requestsPerSecond', { limit, used: limit });
  }
}
