import { setTimeout as pause } from 'node:timers/promises';

/**
 * Look at a state outside this process, for which there is no event to wait for, until it is as wanted. The bound is
 * there so that a test that will never pass says what it last saw; it is far beyond what a busy machine needs.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false | null>,
  boundMs = 150_000,
): Promise<T> {
  const end = Date.now() + boundMs;
  let last: unknown;
  for (;;) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false && seen !== null) return seen;
      last = seen;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`it did not come to this within ${boundMs} ms: ${what}`, { cause: last });
    await pause(25);
  }
}
