import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type ErrorCode, HotcellError } from '@hotcell/contract/errors.ts';
import type { LocatedEntry } from '@hotcell/contract/snapshot-locations.ts';
import type { ContentSettings } from '@hotcell/outside/content.ts';
import { armedCrashPoint } from '@hotcell/outside/crash.ts';

/** Hashing is what costs: one thread per core, and not all cores of a big machine. */
const threads = Math.max(2, Math.min(4, availableParallelism()));
const idleMs = 10_000;
/** Nothing that a thread keeps needs more: what passes through it is written as it comes. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };

export interface ThreadSettings {
  contents: ContentSettings;
  crashAt: string | undefined;
}
export interface Fetch {
  id: number;
  tenant: string;
  entry: LocatedEntry;
  temporary: string;
}
/** Many at once: a message costs as much as a small file. */
export interface ToThread {
  fetch: readonly Fetch[];
  stop: readonly number[];
}
export interface Fetched {
  id: number;
  error?: { code: ErrorCode | undefined; message: string };
}

/** Fetches contents on threads of their own, beside which the worker goes on talking to its cells. */
export class Fetchers implements AsyncDisposable {
  readonly #contents: ContentSettings;
  readonly #threads = new Set<Thread>();
  #idle: NodeJS.Timeout | undefined;

  constructor(contents: ContentSettings) {
    this.#contents = contents;
  }

  /** As fetchContent does it. When it is over, in whatever way, the thread has let go of the file. */
  async fetch(tenant: string, entry: LocatedEntry, temporary: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    const thread = this.#leastBusy();
    try {
      await thread.fetch(tenant, entry, temporary, signal);
    } finally {
      if ([...this.#threads].every(({ busy }) => busy === 0)) {
        clearTimeout(this.#idle);
        this.#idle = setTimeout(() => void this[Symbol.asyncDispose](), idleMs).unref();
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#idle);
    const ended = [...this.#threads];
    this.#threads.clear();
    await Promise.all(ended.map((thread) => thread.end()));
  }

  #leastBusy(): Thread {
    let best: Thread | undefined;
    for (const thread of this.#threads) if (!best || thread.waiting < best.waiting) best = thread;
    if (best && (best.busy === 0 || this.#threads.size === threads)) return best;
    const settings = { contents: this.#contents, crashAt: armedCrashPoint() };
    const thread = new Thread(settings, () => this.#threads.delete(thread));
    this.#threads.add(thread);
    return thread;
  }
}

class Thread {
  /** Bytes that were asked of it and have not come; a file counts for what asking costs, too. */
  waiting = 0;
  readonly #worker: Worker;
  readonly #asked = new Map<number, { done: () => void; failed: (error: unknown) => void }>();
  #outbox: { fetch: Fetch[]; stop: number[] } = { fetch: [], stop: [] };
  #next = 0;

  constructor(settings: ThreadSettings, gone: () => void) {
    this.#worker = new Worker(new URL('./fetch-thread.ts', import.meta.url), { workerData: settings, resourceLimits });
    this.#worker.unref();
    this.#worker.on('message', (fetched: readonly Fetched[]) => {
      for (const one of fetched) this.#answered(one);
    });
    const lost = (error: unknown) => {
      gone();
      for (const { failed } of this.#asked.values()) failed(error);
      this.#asked.clear();
    };
    this.#worker.on('error', lost);
    this.#worker.on('exit', (code) => lost(new Error(`a thread that fetches inputs ended with ${code}`)));
  }

  get busy(): number {
    return this.#asked.size;
  }

  async fetch(tenant: string, entry: LocatedEntry, temporary: string, signal: AbortSignal): Promise<void> {
    const id = this.#next++;
    const { promise, resolve: done, reject: failed } = Promise.withResolvers<void>();
    const cost = entry.size + 64 * 1024;
    const stop = () => this.#send({ stop: id });
    signal.addEventListener('abort', stop, { once: true });
    this.#asked.set(id, { done, failed });
    this.waiting += cost;
    this.#worker.ref();
    this.#send({ fetch: { id, tenant, entry, temporary } });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', stop);
      this.waiting -= cost;
      if (this.#asked.size === 0) this.#worker.unref();
    }
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #send({ fetch, stop }: { fetch?: Fetch; stop?: number }): void {
    const { fetch: fetches, stop: stops } = this.#outbox;
    if (fetches.length + stops.length === 0) setImmediate(() => this.#post());
    if (fetch) fetches.push(fetch);
    if (stop !== undefined) stops.push(stop);
  }

  #post(): void {
    this.#worker.postMessage(this.#outbox satisfies ToThread);
    this.#outbox = { fetch: [], stop: [] };
  }

  #answered({ id, error }: Fetched): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (!error) asked?.done();
    else asked?.failed(error.code ? new HotcellError(error.code, error.message) : new Error(error.message));
  }
}
