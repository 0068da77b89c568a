import type { Resources } from '@hotcell/contract/heartbeats.ts';
import type { Limits } from '@hotcell/contract/limits.ts';

export type Needs = Pick<Limits, 'cpus' | 'memoryBytes'>;

interface Waiter {
  needs: Resources;
  go: (room: Disposable) => void;
}

/**
 * CPU, memory and a number of runs, given out in the order they were asked for: small runs can't keep a big one waiting
 * for ever.
 */
export class Capacity {
  readonly total: Resources;
  #used: Resources = { cpus: 0, memoryBytes: 0, runs: 0 };
  readonly #waiting: Waiter[] = [];
  readonly #onWaiting: (waiting: boolean) => void;
  #lent = 0;
  #borrower: { dueBack(bytes: number): void; mayFit(): void } | undefined;

  /** `onWaiting` is called when the first run begins to wait and when the last one stops. */
  constructor(total: Resources, onWaiting: (waiting: boolean) => void) {
    this.total = total;
    this.#onWaiting = onWaiting;
  }

  get used(): Resources {
    return { ...this.#used };
  }

  get free(): Resources {
    const { total } = this;
    const { cpus, memoryBytes, runs } = this.#used;
    return { cpus: total.cpus - cpus, memoryBytes: total.memoryBytes - memoryBytes, runs: total.runs - runs };
  }

  /** Whether the run would fit on an idle worker. A run that wants more CPUs than the worker has takes all of them. */
  everFits({ memoryBytes }: Needs): boolean {
    return memoryBytes <= this.total.memoryBytes;
  }

  fitsNow(needs: Needs): boolean {
    return this.#waiting.length === 0 && this.#fits(this.#roomFor(needs));
  }

  /** The room is the caller's until it is disposed of. */
  async take(needs: Needs, signal: AbortSignal): Promise<Disposable> {
    const room = this.#roomFor(needs);
    signal.throwIfAborted();
    if (this.fitsNow(needs)) return this.#reserve(room);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        needs: room,
        go: (reserved) => {
          signal.removeEventListener('abort', leave);
          resolve(reserved);
        },
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        if (this.#waiting.length === 0) this.#onWaiting(false);
        else this.#next();
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      if (this.#waiting.push(waiter) === 1) this.#onWaiting(true);
    });
  }

  /** Waiting cells borrow memory that no run uses. It is due back as soon as a run needs it, and the run doesn't wait. */
  borrowFor(borrower: { dueBack(bytes: number): void; mayFit(): void }): void {
    this.#borrower = borrower;
  }

  /** Undefined if runs use it or wait for it. */
  lend(memoryBytes: number): Disposable | undefined {
    if (this.#waiting.length > 0 || memoryBytes > this.free.memoryBytes - this.#lent) return undefined;
    this.#lent += memoryBytes;
    const loan = new DisposableStack();
    loan.defer(() => {
      this.#lent -= memoryBytes;
    });
    return loan;
  }

  /** Whether something can be made without taking the processor of a run. */
  get hasIdleCpu(): boolean {
    return this.#waiting.length === 0 && this.free.cpus >= Math.min(1, this.total.cpus) - 1e-9;
  }

  #roomFor({ cpus, memoryBytes }: Needs): Resources {
    return { cpus: Math.min(cpus, this.total.cpus), memoryBytes, runs: 1 };
  }

  #fits(needs: Resources): boolean {
    const { cpus, memoryBytes, runs } = this.free;
    // Adding and subtracting fractions of CPUs leaves rounding errors behind.
    return needs.runs <= runs && needs.cpus <= cpus + 1e-9 && needs.memoryBytes <= memoryBytes;
  }

  #reserve(room: Resources): Disposable {
    this.#add(room, 1);
    const due = this.#lent - this.free.memoryBytes;
    if (due > 0) this.#borrower?.dueBack(due);
    // A stack is disposed of once, however often that is asked for.
    const reserved = new DisposableStack();
    reserved.defer(() => {
      this.#add(room, -1);
      this.#next();
      this.#borrower?.mayFit();
    });
    return reserved;
  }

  #add(room: Resources, sign: 1 | -1): void {
    this.#used = {
      cpus: Math.max(0, this.#used.cpus + sign * room.cpus),
      memoryBytes: this.#used.memoryBytes + sign * room.memoryBytes,
      runs: this.#used.runs + sign * room.runs,
    };
  }

  #next(): void {
    const waited = this.#waiting.length > 0;
    for (let first = this.#waiting[0]; first && this.#fits(first.needs); first = this.#waiting[0]) {
      this.#waiting.shift();
      first.go(this.#reserve(first.needs));
    }
    if (waited && this.#waiting.length === 0) this.#onWaiting(false);
  }
}
