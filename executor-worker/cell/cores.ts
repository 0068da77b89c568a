import { availableParallelism } from 'node:os';

/** Which of the machine's processors each of this worker's cells begins on: those that carry the fewest others. */
export class Cores {
  readonly #loads: number[];
  readonly #taken = new Map<string, number[]>();
  /** Random, so that the workers of one machine don't all begin on its first processor. */
  #next: number;

  constructor(count = availableParallelism(), next = Math.floor(Math.random() * count)) {
    this.#loads = Array<number>(count).fill(0);
    this.#next = next;
  }

  /** The first of `cpus` neighbours, round the end. */
  take(cell: string, cpus: number): number {
    const count = this.#loads.length;
    const range = (first: number) => Array.from({ length: Math.min(cpus, count) }, (_, i) => (first + i) % count);
    const load = (first: number) => range(first).reduce((sum, cpu) => sum + (this.#loads[cpu] ?? 0), 0);
    const firsts = this.#loads.map((_, i) => (this.#next + i) % count);
    const best = firsts.reduce((first, one) => (load(one) < load(first) ? one : first));
    this.#taken.set(cell, range(best));
    this.#add(range(best), 1);
    this.#next = (best + cpus) % count;
    return best;
  }

  giveBack(cell: string): void {
    this.#add(this.#taken.get(cell) ?? [], -1);
    this.#taken.delete(cell);
  }

  #add(cpus: readonly number[], load: number): void {
    for (const cpu of cpus) this.#loads[cpu] = (this.#loads[cpu] ?? 0) + load;
  }
}
