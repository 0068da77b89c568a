import { setTimeout as pause } from 'node:timers/promises';

/** Soon at first, then the more seldom the longer it takes: many who look at once would slow down what they wait for. */
const pauseMs = (waitedMs: number) => Math.min(25 + waitedMs / 10, 300);

/**
 * Look at a state outside this process, for which there is no event to wait for, until it is as wanted. The bound is
 * there so that a test that will never pass says what it last saw; it is far beyond what a busy machine needs.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false | null>,
  boundMs = 150_000,
): Promise<T> {
  const begun = performance.now();
  let last: unknown;
  for (;;) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false && seen !== null) return seen;
      last = seen;
    } catch (error) {
      last = error;
    }
    const waitedMs = performance.now() - begun;
    if (waitedMs > boundMs) throw new Error(`it did not come to this within ${boundMs} ms: ${what}`, { cause: last });
    await pause(pauseMs(waitedMs));
  }
}
