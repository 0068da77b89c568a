import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '@hotcell/contract/waits.ts';
import { DelayedError, type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import { goesAs } from './arrange.ts';
import { openEnvelope, usualCpus } from './envelope.ts';
import type { Pull, Served, Service } from './queue.ts';
import { arrangeKeys, nameOf, prefix, type QueueSettings, retryStrategy } from './queue-names.ts';
import { runScript } from './queue-scripts.ts';

/** How long a worker that died still holds its tickets: a lock that is not renewed ends, and the next check sees it. */
const lockMs = 5_000;
const stalledMs = 2_000;
/** Well within the lock: a ticket whose turn is not confirmed by then is given back. */
const confirmMs = 2_500;
/** How often a worker says which runs go on, and looks for tenants whose quota has room again. */
const lookMs = 1_000;

/** The pulling side of one queue. */
export class TicketPull implements Pull {
  readonly #worker: Worker;
  readonly #service: Service;
  readonly #keys: readonly string[];
  readonly #me = randomUUID();
  readonly #serving = new Set<Promise<void>>();
  /** The runs that are served, and what each counts for. */
  readonly #counted = new Map<string, { tenant: string; cpus: number }>();
  readonly #looking: NodeJS.Timeout;
  #isLooking = false;

  constructor(settings: QueueSettings, queue: string, service: Service) {
    this.#service = service;
    this.#keys = arrangeKeys(settings, queue);
    const serve = (job: Job<unknown>, token: string | undefined): Promise<void> => {
      const serving = this.#serve(job, token).finally(() => this.#serving.delete(serving));
      this.#serving.add(serving);
      return serving;
    };
    this.#worker = new Worker(nameOf(settings, queue), serve, {
      prefix,
      connection: {
        url: settings.url,
        maxRetriesPerRequest: null,
        retryStrategy,
        connectTimeout: 3_000,
        // Longer than any call that waits for a ticket. A Valkey whose machine is gone never closes its connections.
        socketTimeout: 15_000,
      },
      concurrency: service.atOnce,
      lockDuration: lockMs,
      stalledInterval: stalledMs,
      // The claims in the bucket count the attempts: BullMQ has no say in when a run is lost.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      runRetryDelay: 500,
      drainDelay: 5,
      removeOnComplete: { count: 0 },
      // A refused ticket that stayed would keep out the run's real ticket.
      removeOnFail: { count: 0 },
    });
    this.#looking = setInterval(() => void this.#look(), lookMs);
    this.#worker.on('lockRenewalFailed', (runs: string[]) => {
      for (const run of runs) service.lockLost(run);
    });
    this.#worker.on('completed', (job) => service.acked(job.id ?? ''));
    this.#worker.on('error', (error) => service.problem(error));
  }

  hold(count: number): void {
    this.#worker.concurrency = Math.max(1, count);
  }

  async stop(): Promise<void> {
    await this.#worker.pause(true);
  }

  resume(): void {
    // Resolves only when it is paused again or closed.
    this.#worker.resume().catch((error: Error) => this.#service.problem(error));
  }

  async idle(): Promise<void> {
    while (this.#serving.size > 0) await Promise.allSettled(this.#serving);
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    await Promise.race([this.#worker.close(), pause(3_000)]);
  }

  async #serve(job: Job<unknown>, token: string | undefined): Promise<void> {
    const { id = '', attemptsStarted, stalledCounter } = job;
    const { ticket, recovered, tenant, cpus = usualCpus } = openEnvelope(job);
    const mayHaveBegun = recovered || attemptsStarted > 1 || stalledCounter > 0;
    if (tenant !== undefined) await this.#confirm(job, token, { tenant, cpus });
    // Its first serving here may still go on, after this worker lost the lock: that one says when the run has left.
    const counts = tenant !== undefined && !this.#counted.has(id);
    if (counts) this.#counted.set(id, { tenant, cpus });
    try {
      await this.#answer(job, token, await this.#service.serve({ id, ticket, mayHaveBegun }));
    } finally {
      if (counts) {
        this.#counted.delete(id);
        void this.#tell('left', id, tenant);
      }
    }
  }

  /** Returns if the ticket may be served, and throws if it is no longer here. */
  async #confirm(job: Job<unknown>, token: string | undefined, of: { tenant: string; cpus: number }): Promise<void> {
    const late = () => new Error(`Valkey did not confirm a ticket within ${confirmMs} ms; it is given back`);
    const { id = '', priority } = job;
    const taken = () => this.#arrange('taken', id, of.tenant, String(priority), token ?? '', String(of.cpus));
    const goes = await within(confirmMs, late, taken).catch((error: unknown) => this.#report(error));
    if (goes === goesAs.begin) return;
    // Without an answer: should Valkey never hear of it, the lock ends, and the next check for such tickets finds it.
    if (goes !== goesAs.lost) {
      const back = this.#giveBack(job, token, of.tenant);
      if (goes === goesAs.full) await back;
    }
    throw new WaitingError();
  }

  async #giveBack(job: Job<unknown>, token: string | undefined, tenant: string): Promise<void> {
    await job.moveToWait(token).catch((error: unknown) => this.#report(error));
    const { id = '' } = job;
    await (this.#counted.has(id) ? this.#tell('added') : this.#tell('left', id, tenant));
  }

  /** One call at a time: while Valkey is away, they would pile up and all be sent at once. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    await this.#tell('looked', ...[...this.#counted].flatMap(([id, { tenant, cpus }]) => [id, tenant, String(cpus)]));
    this.#isLooking = false;
  }

  async #answer(job: Job<unknown>, token: string | undefined, served: Served): Promise<void> {
    switch (served.kind) {
      case 'done':
        return;
      case 'refused':
        throw new UnrecoverableError(served.why);
      case 'later':
        await job.moveToDelayed(Date.now() + served.afterMs, token);
        throw new DelayedError();
      case 'back':
        await job.moveToWait(token);
        throw new WaitingError();
    }
  }

  #arrange(what: string, ...args: readonly string[]): Promise<unknown> {
    return runScript(this.#worker, 'hotcellArrange', this.#keys, what, this.#me, ...args);
  }

  /** Fails only where Valkey does not answer: the next call puts the counts right. */
  async #tell(what: string, ...args: readonly string[]): Promise<void> {
    await this.#arrange(what, ...args).catch((error: unknown) => this.#report(error));
  }

  #report(error: unknown): undefined {
    this.#service.problem(error instanceof Error ? error : new Error(String(error)));
  }
}
