import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** What an earlier measurement left behind is not the next one's. */
export const collectGarbage: () => void = runInNewContext('gc');

/**
 * The longest time that this thread computed without coming back to its event loop, in microseconds of its own CPU:
 * what else the machine does adds nothing to it.
 */
export async function longestStall(work: () => Promise<unknown>): Promise<number> {
  let [over, longest] = [false, 0];
  const done = work().finally(() => {
    over = true;
  });
  for (let before = cpuMicros(); !over; ) {
    await pause(1);
    const now = cpuMicros();
    longest = Math.max(longest, now - before);
    before = now;
  }
  await done;
  return longest;
}

/** CPU time of this thread alone. */
export function cpuMicros(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
