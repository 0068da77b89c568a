import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { LocatedEntry } from '@hotcell/record/snapshot-locations.ts';
import type { ContentSettings } from '@hotcell/record/contents.ts';
import { armedCrashPoint } from '@hotcell/outside/process/crash.ts';
import { errorOf, type Failure } from './fetch-failure.ts';

/** Hashing is the cost: one thread per core, but not all cores of a big machine. */
const threads = Math.max(2, Math.min(4, availableParallelism()));
const idleMs = 10_000;
/** A thread keeps little: it writes bytes as they come. */
const resourceLimits = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 };

export interface ThreadSettings {
  contents: ContentSettings;
  crashAt: string | undefined;
}
/** A content, and the file it is written to before it has its name. */
export interface WantedFile {
  entry: LocatedEntry;
  temporary: string;
}
/** Some files for one thread: a message costs as much as a small file. */
export type ToThread = { id: number; tenant: string; files: readonly WantedFile[] } | { stop: number };
export interface FromThread {
  id: number;
  failures: readonly Failure[];
}

/** Fetches contents on threads of their own, so that the worker goes on talking to its cells. */
export class Fetchers implements AsyncDisposable {
  readonly #contents: ContentSettings;
  readonly #threads = new Set<Thread>();
  #idle: NodeJS.Timeout | undefined;

  constructor(contents: ContentSettings) {
    this.#contents = contents;
  }

  /**
   * fetchContent for each file, on a thread. Returns the failures, by their place among the files. When it settles,
   * however it ended, the thread has closed all the files.
   */
  async fetch(tenant: string, files: readonly WantedFile[], signal: AbortSignal): Promise<Map<number, Error>> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    const thread = this.#leastBusy();
    try {
      return await thread.fetch(tenant, files, signal);
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
  /** Bytes that were asked for and have not come; each file adds the cost of asking. */
  waiting = 0;
  readonly #worker: Worker;
  readonly #asked = new Map<
    number,
    { done: (failures: readonly Failure[]) => void; failed: (error: unknown) => void }
  >();
  #next = 0;

  constructor(settings: ThreadSettings, gone: () => void) {
    this.#worker = new Worker(new URL('./fetch-thread.ts', import.meta.url), { workerData: settings, resourceLimits });
    this.#worker.unref();
    this.#worker.on('message', ({ id, failures }: FromThread) => this.#asked.get(id)?.done(failures));
    const lost = (error: unknown) => {
      gone();
      for (const { failed } of this.#asked.values()) failed(error);
    };
    this.#worker.on('error', lost);
    this.#worker.on('exit', (code) => lost(new Error(`a thread that fetches inputs ended with ${code}`)));
  }

  get busy(): number {
    return this.#asked.size;
  }

  async fetch(tenant: string, files: readonly WantedFile[], signal: AbortSignal): Promise<Map<number, Error>> {
    const id = this.#next++;
    const { promise, resolve: done, reject: failed } = Promise.withResolvers<readonly Failure[]>();
    const cost = files.reduce((sum, { entry }) => sum + entry.size + 64 * 1024, 0);
    const stop = () => this.#worker.postMessage({ stop: id } satisfies ToThread);
    signal.addEventListener('abort', stop, { once: true });
    this.#asked.set(id, { done, failed });
    this.waiting += cost;
    this.#worker.ref();
    this.#worker.postMessage({ id, tenant, files } satisfies ToThread);
    try {
      return new Map((await promise).map((failure) => [failure.index, errorOf(failure)]));
    } finally {
      signal.removeEventListener('abort', stop);
      this.#asked.delete(id);
      this.waiting -= cost;
      if (this.#asked.size === 0) this.#worker.unref();
    }
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
