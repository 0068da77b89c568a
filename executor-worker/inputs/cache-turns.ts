import { HotcellError } from '@hotcell/contract/errors.ts';
import { unlessAborted } from '@hotcell/contract/waits.ts';

/** The inputs don't fit beside what is in use now; they may fit once other runs have ended. */
export class CacheInUse extends HotcellError {
  constructor(message: string, options?: ErrorOptions) {
    super('internal', message, options);
  }
}

/** They didn't fit for as long as a run may wait: while it waits, it keeps CPUs and memory from other runs. */
export class CacheStillInUse extends HotcellError {
  constructor() {
    super(
      'internal',
      `Its inputs did not fit into the worker's cache, or onto its disk, beside those of other runs for ${patienceMs / 1000} s.`,
    );
  }
}

const patienceMs = 60_000;

export interface Waiting {
  signal?: AbortSignal | undefined;
  /** Is told once. */
  waits?: () => void;
  /** Ends the wait, and nothing that is under way. */
  patience?: () => AbortSignal;
}

/**
 * Runs whose inputs don't fit into the cache yet wait here until another run lets go of its own. They hold nothing of the
 * cache while they wait, and try one at a time, so no two wait for each other.
 */
export class CacheTurns {
  /** Runs that have their inputs, or try to have them for the first time. */
  #users = 0;
  #left = 0;
  #leaving = Promise.withResolvers<void>();
  #turn: Promise<void> = Promise.resolve();

  /** Counts a user of the cache until it is disposed of: then those that wait look again. */
  enter(): Disposable {
    this.#users += 1;
    const user = new DisposableStack();
    user.defer(() => {
      this.#users -= 1;
      this.#left += 1;
      this.#leaving.resolve();
      this.#leaving = Promise.withResolvers<void>();
    });
    return user;
  }

  /** What `hold` holds, and its user. A failed `hold` has to leave nothing held. */
  async hold<T>(hold: () => Promise<T>, options: Waiting = {}) {
    try {
      return await this.#try(hold);
    } catch (error) {
      if (!(error instanceof CacheInUse)) throw error;
    }
    const { signal, patience = () => AbortSignal.timeout(patienceMs) } = options;
    const over = patience();
    try {
      return await this.#wait(hold, { ...options, signal: AbortSignal.any(signal ? [signal, over] : [over]) });
    } catch (error) {
      throw over.aborted && error === over.reason ? new CacheStillInUse() : error;
    }
  }

  async #wait<T>(hold: () => Promise<T>, { signal, waits }: Waiting) {
    for (let told = false; ; told = true) {
      const { promise: leaving } = this.#leaving;
      const held = await this.#inTurn(() => this.#tryAlone(hold), signal);
      if (held !== 'later') return held;
      if (!told) waits?.();
      await unlessAborted(leaving, signal);
    }
  }

  async #try<T>(hold: () => Promise<T>): Promise<{ held: T; user: Disposable }> {
    const user = this.enter();
    try {
      return { held: await hold(), user };
    } catch (error) {
      user[Symbol.dispose]();
      throw error;
    }
  }

  /** Its own failure wakes no other run: two that never fit together would wake each other for ever. */
  async #tryAlone<T>(hold: () => Promise<T>): Promise<{ held: T; user: Disposable } | 'later'> {
    const left = this.#left;
    try {
      const held = await hold();
      return { held, user: this.enter() };
    } catch (error) {
      // Nothing else was in the way, so waiting would not help.
      if (!(error instanceof CacheInUse) || (this.#users === 0 && this.#left === left)) throw error;
      return 'later';
    }
  }

  async #inTurn<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const before = this.#turn;
    const done = Promise.withResolvers<void>();
    this.#turn = before.then(() => done.promise);
    try {
      await unlessAborted(before, signal);
      return await work();
    } finally {
      done.resolve();
    }
  }
}
