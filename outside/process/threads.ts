import { Worker } from 'node:worker_threads';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { buffersOf, type Called, type ThreadData, type Told } from './thread-calls.ts';
import { armedCrashPoint } from './crash.ts';

/** The functions of a thread's module, by name. */
export type Calls = Readonly<Record<string, (...args: never[]) => unknown>>;

interface Job {
  call: Called;
  done: (value: unknown) => void;
  failed: (error: unknown) => void;
}

export interface ThreadSettings {
  /** How many threads there are at most; with one, calls are answered in their order. */
  most: number;
  /** What each thread is given at its start. */
  data?: unknown;
  /** A thread ends after so long without work; without this it stays. */
  idleMs?: number;
  /** A call that takes more memory fails, and its thread ends. */
  heapMiB: number;
}

/**
 * Threads that answer calls to the functions of one module, one call at a time each. What takes long is called here, so
 * that the event loop goes on; what is waiting is held by its caller, who bounds how much that is.
 */
export class Threads<C extends Calls> implements AsyncDisposable {
  readonly #module: URL;
  readonly #settings: ThreadSettings;
  readonly #all = new Set<Worker>();
  readonly #free: Worker[] = [];
  readonly #waiting: Job[] = [];
  readonly #atWork = new Map<Worker, Job>();
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(module: URL, settings: ThreadSettings) {
    this.#module = module;
    this.#settings = settings;
  }

  /** Bytes among the arguments change hands: the caller has them no more. */
  async call<N extends keyof C & string>(name: N, ...args: Parameters<C[N]>): Promise<ReturnType<C[N]>> {
    if (this.#closed) throw new HotcellError('internal', 'This process is ending. Try again.');
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.push({ call: { name, args }, done: resolve, failed: reject });
    this.#next();
    return (await promise) as ReturnType<C[N]>;
  }

  /** What is under way fails. A caller that needs an answer waits for it first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    // One that is ending is given no call: until it has ended, the call waits.
    this.#free.length = 0;
    await Promise.all([...this.#all].map((worker) => worker.terminate()));
  }

  #next(): void {
    clearTimeout(this.#idle);
    while (this.#waiting.length > 0) {
      const worker = this.#free.pop() ?? (this.#all.size < this.#settings.most ? this.#open() : undefined);
      const job = worker && this.#waiting.shift();
      if (!job) return;
      this.#atWork.set(worker, job);
      worker.ref();
      worker.postMessage(job.call, buffersOf(job.call.args));
    }
    const { idleMs } = this.#settings;
    if (idleMs !== undefined && this.#atWork.size === 0)
      this.#idle = setTimeout(() => void this.#end(), idleMs).unref();
  }

  #open(): Worker {
    const { data, heapMiB } = this.#settings;
    const workerData: ThreadData = { data, crashAt: armedCrashPoint() };
    const worker = new Worker(this.#module, { workerData, resourceLimits: { maxOldGenerationSizeMb: heapMiB } });
    this.#all.add(worker);
    worker.on('message', (told: Told) => {
      const job = this.#atWork.get(worker);
      this.#atWork.delete(worker);
      worker.unref();
      this.#free.push(worker);
      if ('value' in told) job?.done(told.value);
      else job?.failed(errorOf(told.error));
      this.#next();
    });
    let why: unknown = new HotcellError('internal', 'The thread that had this work has ended. Try again.');
    worker.on('error', (error) => {
      why = error;
    });
    worker.on('exit', () => {
      this.#all.delete(worker);
      const at = this.#free.indexOf(worker);
      if (at >= 0) this.#free.splice(at, 1);
      this.#atWork.get(worker)?.failed(why);
      this.#atWork.delete(worker);
      if (this.#closed) for (const { failed } of this.#waiting.splice(0)) failed(why);
      else this.#next();
    });
    return worker;
  }
}

function errorOf({ code, message, issues, extra }: Extract<Told, { error: unknown }>['error']): Error {
  return code ? new HotcellError(code, message, { issues, extra }) : new Error(message);
}
