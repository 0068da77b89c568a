import type { House } from '../../test/support/house.ts';
import { endsIn } from './ends.ts';
import { many } from './many.ts';

const atOnce = 16;

/** A worker with room for many runs. */
export const roomy = { HOTCELL_CPUS: '64', HOTCELL_MEMORY_BYTES: String(2 ** 36), HOTCELL_RUNS: '16' };

/** Accepted, executed by an echo, and committed. */
export async function echoedRuns(house: House, count: number): Promise<void> {
  using ends = await endsIn(house);
  const under: Promise<void>[] = [];
  await many(count, atOnce, async (i) => {
    const { run } = await house.submit(`print ${i}`);
    under.push(ends.of(run));
  });
  await Promise.all(under);
}
