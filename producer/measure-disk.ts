import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { restUnlessAborted } from '@hotcell/contract/waits.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { Lead } from './lead.ts';
import { keepSample, measureBuckets } from '@hotcell/record/disk-samples.ts';

interface Deps {
  store: Buckets;
  live: Pick<Live, 'leadership'>;
  log: Logger;
}

/** A producer that just began has callers who wait. */
const beginAfterMs = 15_000;
const lookEveryMs = 60_000;
const leadMs = 20_000;
const restBetweenPagesMs = 5;
/** It lists every key, so a record of a million runs is measured about once a day, and a small one every ten minutes. */
const leastRestMs = 600_000;
const restPerWork = 100;

/** Measures what takes room in the buckets. One producer does it for all, and every reader reads what it found. */
export class DiskMeasures implements AsyncDisposable {
  readonly #deps: Deps;
  readonly #ends = new AbortController();
  readonly #lead: Lead;
  readonly #working: Promise<void>;
  #dueAt = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#lead = new Lead(deps.live.leadership, { task: 'disk', me: randomUUID(), forMs: leadMs });
    this.#working = this.#work();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.abort();
    await this.#working;
    await this.#lead.resign().catch(() => undefined);
  }

  async #work(): Promise<void> {
    await restUnlessAborted(beginAfterMs, this.#ends.signal);
    while (!this.#ends.signal.aborted) {
      await this.#pass().catch((error: unknown) => {
        if (!this.#ends.signal.aborted)
          this.#deps.log.info({ error }, 'failed to measure the buckets; the next pass tries again');
      });
      await restUnlessAborted(lookEveryMs, this.#ends.signal);
    }
  }

  async #pass(): Promise<void> {
    if (Date.now() < this.#dueAt || !(await this.#lead.take())) return;
    const began = Date.now();
    const sample = await measureBuckets(this.#deps.store, async () => {
      await this.#lead.keep();
      await pause(restBetweenPagesMs, undefined, { signal: this.#ends.signal });
    });
    await keepSample(this.#deps.store, sample);
    const now = Date.now();
    this.#dueAt = now + Math.max(leastRestMs, (now - began) * restPerWork);
  }
}
