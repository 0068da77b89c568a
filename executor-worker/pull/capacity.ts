import type { Room } from '@hotcell/contract/heartbeats.ts';

export interface Taken extends Disposable {
  /** The room that was taken. */
  readonly room: Room;
}

interface Asked {
  cpus: number;
  memoryBytes: number;
}

interface Waiter {
  needs: Room;
  go: (taken: Taken) => void;
}

/**
 * CPU, memory and a number of runs, given out in the order they were asked for: who needs much is not overtaken for
 * ever by those who need little.
 */
export class Capacity {
  readonly total: Room;
  #used: Room = { cpus: 0, memoryBytes: 0, runs: 0 };
  readonly #waiting: Waiter[] = [];
  readonly #onWaiting: (waiting: boolean) => void;

  /** `onWaiting` hears when the first begins to wait and when the last does not wait any more. */
  constructor(total: Room, onWaiting: (waiting: boolean) => void) {
    this.total = total;
    this.#onWaiting = onWaiting;
  }

  get used(): Room {
    return { ...this.#used };
  }

  /** Whether it could fit if nothing else was here. A run that wants more CPU than there is takes all there is. */
  everFits(asked: Asked): boolean {
    return asked.memoryBytes <= this.total.memoryBytes;
  }

  fitsNow(asked: Asked): boolean {
    return this.#waiting.length === 0 && this.#fits(this.#needs(asked));
  }

  async take(asked: Asked, signal: AbortSignal): Promise<Taken> {
    const needs = this.#needs(asked);
    signal.throwIfAborted();
    if (this.fitsNow(asked)) return this.#give(needs);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        needs,
        go: (taken) => {
          signal.removeEventListener('abort', leave);
          resolve(taken);
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

  #needs({ cpus, memoryBytes }: Asked): Room {
    return { cpus: Math.min(cpus, this.total.cpus), memoryBytes, runs: 1 };
  }

  #fits(needs: Room): boolean {
    const { total } = this;
    const used = this.#used;
    return (
      used.runs + needs.runs <= total.runs &&
      // Fractions of CPUs are added up and taken away again: what is left over is no CPU.
      used.cpus + needs.cpus <= total.cpus + 1e-9 &&
      used.memoryBytes + needs.memoryBytes <= total.memoryBytes
    );
  }

  #give(room: Room): Taken {
    this.#add(room, 1);
    let given = true;
    return {
      room,
      [Symbol.dispose]: () => {
        if (!given) return;
        given = false;
        this.#add(room, -1);
        this.#next();
      },
    };
  }

  #add(room: Room, sign: 1 | -1): void {
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
      first.go(this.#give(first.needs));
    }
    if (waited && this.#waiting.length === 0) this.#onWaiting(false);
  }
}
