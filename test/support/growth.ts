import assert from 'node:assert/strict';
import { cpuMicros } from './stall.ts';

/** An input of a size that a stranger chooses, and what reads it. */
export interface Hostile {
  /** So much that work which is not linear shows, and so little that it ends all the same. */
  size: number;
  make: (size: number) => unknown;
  read: (input: never) => unknown;
}

const times = 5;
/** Linear work grows fivefold, its square 25-fold. Below the floor the clock and the compiler are what is measured. */
const mostGrowth = 14;
const floorMicros = 2_000;

/** The clock of a thread's CPU goes in steps: what is shorter is done again and again. */
const enoughMicros = 20_000;

/** The least CPU time of some tries: load on the machine only ever adds to it. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const tries: number[] = [];
  for (let i = 0; i < 3; i++) {
    const before = cpuMicros();
    let took = 0;
    let count = 0;
    for (; took < enoughMicros && count < 50; count++) {
      await work();
      took = cpuMicros() - before;
    }
    tries.push(took / count);
  }
  return Math.min(...tries);
}

/** Fails when the time to read grows faster than the input. What is refused counts as read. */
export async function growsNoFaster({ size, make, read }: Hostile): Promise<void> {
  const work = async (input: never) => {
    try {
      await read(input);
    } catch (error) {
      assert.ok(error instanceof Error && error.name === 'HotcellError', `it failed otherwise: ${String(error)}`);
    }
  };
  const [small, large] = [make(size) as never, make(size * times) as never];
  await work(small);
  const before = await cpuOf(() => work(small));
  const after = await cpuOf(() => work(large));
  const ratio = after / Math.max(before, floorMicros);
  const took = `${Math.round(before)} → ${Math.round(after)} µs`;
  assert.ok(ratio < mostGrowth, `${times} times the input took ${ratio.toFixed(1)} times the CPU time (${took})`);
}
