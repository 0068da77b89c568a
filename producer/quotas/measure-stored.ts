import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { restUnlessAborted } from '@hotcell/contract/waits.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { contentSizes } from '@hotcell/record/present-contents.ts';
import { tenantsIn } from '@hotcell/record/recorded-runs.ts';
import { Lead } from '../lead.ts';
import type { Quotas } from './quota-book.ts';

interface Deps {
  store: Buckets;
  live: Live;
  quotas: Pick<Quotas, 'of' | 'tenants'>;
  log: Logger;
}

const lookEveryMs = 2_000;
const leadMs = 20_000;
/** What wasn't counted by then, such as what a process that died had taken, is counted right again. */
const againAfterSeconds = 86_400;
/** A tenant at its quota is measured more often: something may have been removed. */
const fullAgainAfterSeconds = 600;
/** A page has so many keys, so that its parsing holds up no caller. */
const pageSize = 200;
const restBetweenPagesMs = 5;

/**
 * Measures what tenants have stored, for those with a quota of it, by listing their contents. One producer does it for
 * all. Tenants without such a quota cost nothing.
 */
export class StoredMeasures implements AsyncDisposable {
  readonly #deps: Deps;
  readonly #ends = new AbortController();
  readonly #lead: Lead;
  readonly #working: Promise<void>;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#lead = new Lead(deps.live.leadership, { task: 'stored-bytes', me: randomUUID(), forMs: leadMs });
    this.#working = this.#work();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.abort();
    await this.#working;
    await this.#lead.resign().catch(() => undefined);
  }

  async #work(): Promise<void> {
    while (!this.#ends.signal.aborted) {
      await this.#pass().catch((error: unknown) => {
        if (!this.#ends.signal.aborted)
          this.#deps.log.info({ error }, 'failed to measure what tenants have stored; the next pass tries again');
      });
      await restUnlessAborted(lookEveryMs, this.#ends.signal);
    }
  }

  async #pass(): Promise<void> {
    const { stored } = this.#deps.live;
    if (!(await this.#lead.take())) return;
    const tenants = await this.#bounded();
    await stored.keepOnly(tenants);
    for (const tenant of tenants) {
      if (this.#ends.signal.aborted) return;
      await this.#lead.keep();
      if (await this.#isDue(tenant)) await this.#measure(tenant);
    }
  }

  async #isDue(tenant: string): Promise<boolean> {
    const { live, quotas } = this.#deps;
    const ago = await live.stored.measuredSecondsAgo(tenant);
    if (ago === undefined) return true;
    const isFull = ((await live.stored.used(tenant)) ?? 0) >= quotas.of(tenant).storedBytes.limit * almost;
    return ago >= (isFull ? fullAgainAfterSeconds : againAfterSeconds);
  }

  async #measure(tenant: string): Promise<void> {
    const { store, live } = this.#deps;
    await live.stored.beginMeasuring(tenant);
    let bytes = 0;
    let keys = 0;
    for await (const size of contentSizes(store, tenant, pageSize)) {
      bytes += size;
      if (++keys % pageSize !== 0) continue;
      await this.#lead.keep();
      await pause(restBetweenPagesMs, undefined, { signal: this.#ends.signal });
    }
    await live.stored.measured(tenant, bytes);
  }

  /** Those that have a quota. */
  async #bounded(): Promise<Set<string>> {
    const { store, quotas } = this.#deps;
    const isBounded = (tenant: string) => quotas.of(tenant).storedBytes.limit !== Number.POSITIVE_INFINITY;
    const bounded = new Set(quotas.tenants().filter(isBounded));
    // The file's defaults are for every tenant that has no name there.
    if (isBounded('*')) for await (const tenant of tenantsIn(store, 'cas/')) if (isBounded(tenant)) bounded.add(tenant);
    return bounded;
  }
}

/** So much of its quota, and a tenant's next file may not fit. */
const almost = 0.9;
