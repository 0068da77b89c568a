import type { RunRow } from '@hotcell/contract/api/runs.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { Threads } from '@hotcell/outside/process/threads.ts';
import type { ModelCalls } from './model-thread.ts';
import type { Change, Place } from './run-changes.ts';
import type { Wanted } from './run-query.ts';

/** So many rows are looked at in one go: the lists of other tenants have their turn in between. */
const scan = 1_000;
const page = 200;
/** What SQLite holds is no part of it: this is for the rows of an answer. */
const heapMiB = 256;

type Unknown = readonly { tenant: string; run: RunId }[];

/**
 * Lists and filters runs. It can be deleted: it is filled again from the buckets. Its calls are answered in their order,
 * so that a list has what was noted before it.
 */
export class ReadModel implements AsyncDisposable {
  readonly #threads: Threads<ModelCalls>;
  readonly #failed: (error: unknown) => void;
  #noted: Change[] = [];
  #unknown: (runs: Unknown) => void = () => undefined;

  private constructor(threads: Threads<ModelCalls>, failed: (error: unknown) => void) {
    this.#threads = threads;
    this.#failed = failed;
  }

  /** `failed` is told of what could not be noted. A file that cannot be read is replaced by an empty one. */
  static async open(file: string, failed: (error: unknown) => void): Promise<ReadModel> {
    const module = new URL('./model-thread.ts', import.meta.url);
    const model = new ReadModel(new Threads(module, { most: 1, data: file, heapMiB }), failed);
    await model.places();
    return model;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#send();
    await this.#threads.call('close').catch(this.#failed);
    await this.#threads[Symbol.asyncDispose]();
  }

  /** Tells of the runs that messages name and that are not known. */
  onUnknown(told: (runs: Unknown) => void): void {
    this.#unknown = told;
  }

  /** Written soon, together with what else was noted by then, and before anything that is asked later. */
  note(change: Change): void {
    if (this.#noted.push(change) === 1) setImmediate(() => this.#send());
  }

  /** Written, in one transaction, when this resolves. */
  async write(changes: readonly Change[]): Promise<void> {
    this.#send();
    await this.#threads.call('write', changes);
  }

  async list(tenant: string, wanted: Wanted): Promise<RunRow[]> {
    this.#send();
    const rows: RunRow[] = [];
    for (let before = wanted.before; ; ) {
      const left = { ...wanted, before, limit: wanted.limit - rows.length };
      const slice = await this.#threads.call('list', tenant, left, scan);
      rows.push(...slice.rows);
      before = slice.before;
      if (before === undefined || rows.length === wanted.limit) return rows;
    }
  }

  /** The runs of a shard that are not known to be finished, as `<tenant>/<run>` and in that order. */
  async *unfinished(shard: string): AsyncGenerator<string> {
    this.#send();
    for (let after = ''; ; ) {
      const places = await this.#threads.call('unfinished', shard, after, page);
      yield* places;
      if (places.length < page) return;
      after = places.at(-1) ?? '';
    }
  }

  /** Which of these runs are known, and whether their ends are. */
  async known(runs: readonly RunId[]): Promise<Map<RunId, { ended: boolean }>> {
    this.#send();
    return await this.#threads.call('known', runs);
  }

  async places(): Promise<Place[]> {
    return await this.#threads.call('places');
  }

  async count(): Promise<number> {
    return await this.#threads.call('count');
  }

  async empty(): Promise<void> {
    this.#send();
    await this.#threads.call('empty');
  }

  #send(): void {
    if (this.#noted.length === 0) return;
    const changes = this.#noted;
    this.#noted = [];
    this.#threads.call('write', changes).then((unknown) => unknown.length > 0 && this.#unknown(unknown), this.#failed);
  }
}
