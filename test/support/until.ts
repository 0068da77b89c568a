import { AssertionError } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Looks often at first and then less often: many tests that look at once would slow down what they wait for. */
const pauseMs = (waitedMs: number) => Math.min(25 + waitedMs / 10, 300);

/** Remembers a state for the message of the failure, and returns it. */
type Note = <S>(seen: S) => S;

/**
 * Looks at a state outside this process, for which there is no event to wait for, until it is as wanted. The bound lets
 * a test that can never pass fail with what it last saw; it is far beyond what a busy machine needs.
 */
export async function until<T>(
  what: string,
  look: (note: Note) => Promise<T | undefined | false | null>,
  boundMs = 150_000,
): Promise<T> {
  const begun = performance.now();
  let last: unknown;
  let error: unknown;
  const note: Note = (seen) => {
    last = seen;
    return seen;
  };
  for (;;) {
    error = undefined;
    try {
      const seen = await look(note);
      if (seen !== undefined && seen !== false && seen !== null) return seen;
    } catch (thrown) {
      // What the test itself asserts while it looks is final; anything else may be different the next time.
      if (thrown instanceof AssertionError) throw thrown;
      error = thrown;
    }
    const waitedMs = performance.now() - begun;
    if (waitedMs > boundMs)
      throw new Error(
        `not so within ${boundMs / 1000} s: ${what}; last seen: ${inspect(last, { depth: 5, breakLength: 160 })}`,
        { cause: error },
      );
    await pause(pauseMs(waitedMs));
  }
}
