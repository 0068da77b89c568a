import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { type EffectiveQuota, effectiveQuota, type QuotaFile, type TenantQuota } from '@hotcell/contract/quota.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { putQuota, quotaRecords } from '@hotcell/record/quota-records.ts';
import { loadQuotaFile } from './quota-file.ts';

export interface QuotaDeps {
  store: Buckets;
  live: Live;
  log: Logger;
  /** The operator's file. */
  file: string | undefined;
}

const lookAgainMs = 5_000;

/** The quotas of all tenants: from the operator's file and from the record, read again every few seconds. */
export class Quotas implements AsyncDisposable {
  readonly #deps: QuotaDeps;
  readonly #ends = new AbortController();
  #file: QuotaFile;
  #problems: string[] = [];
  #set: Awaited<ReturnType<typeof quotaRecords>> = new Map();
  #looking: Promise<void> = Promise.resolve();

  private constructor(deps: QuotaDeps, file: QuotaFile) {
    this.#deps = deps;
    this.#file = file;
  }

  /** A file with a problem keeps the process from starting; one that gets a problem later leaves the old one in force. */
  static async open(deps: QuotaDeps): Promise<Quotas> {
    const loaded = loadQuotaFile(deps.file);
    if ('problems' in loaded)
      throw new HotcellError('invalid', `The file of quotas is not valid: ${loaded.problems.join('; ')}`);
    const quotas = new Quotas(deps, loaded.quotas);
    await quotas.look();
    quotas.#looking = quotas.#keepLooking();
    return quotas;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.abort();
    await this.#looking;
  }

  of(tenant: string): EffectiveQuota {
    return effectiveQuota(tenant, this.#file, this.#set.get(tenant)?.record.quota);
  }

  /** Those of which the file or the record says something. */
  tenants(): string[] {
    return [...new Set([...Object.keys(this.#file.tenants ?? {}), ...this.#set.keys()])].toSorted();
  }

  problems(): readonly string[] {
    return this.#problems;
  }

  async set(tenant: string, quota: TenantQuota, by: string): Promise<void> {
    await putQuota(this.#deps.store, { version: 1, tenant, quota, by, at: new Date().toISOString() });
    await this.look();
  }

  async look(): Promise<void> {
    const { store, live, log, file } = this.#deps;
    const loaded = loadQuotaFile(file);
    if ('quotas' in loaded) this.#file = loaded.quotas;
    const problems = 'problems' in loaded ? loaded.problems : [];
    if (problems.length > 0 && problems.join() !== this.#problems.join())
      log.error({ problems }, 'the file of quotas is not valid; the quotas before its change stay in force');
    this.#problems = problems;
    this.#set = await quotaRecords(store, this.#set);
    const allowed = ['*', ...this.tenants()].map((tenant) => {
      const { runningRuns, runningCpus, storedBytes } = this.of(tenant);
      return [tenant, { runs: runningRuns.limit, cpus: runningCpus.limit, bytes: storedBytes.limit }] as const;
    });
    await live.tenants.allow(new Map(allowed)).catch((error: unknown) => {
      log.info({ error }, 'failed to copy the quotas into Valkey; the next look does');
    });
  }

  async #keepLooking(): Promise<void> {
    const { signal } = this.#ends;
    while (!signal.aborted) {
      await pause(lookAgainMs, undefined, { signal }).catch(() => {
        // Asked to end: the loop sees it.
      });
      if (!signal.aborted)
        await this.look().catch((error: unknown) => {
          this.#deps.log.warn({ error }, 'failed to read the quotas; those known stay in force');
        });
    }
  }
}
