import { setTimeout as pause } from 'node:timers/promises';

/** The work's result, or the signal's reason as soon as it is aborted. The work itself goes on. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal?.reason);
  signal?.addEventListener('abort', leave, { once: true });
  if (signal?.aborted) leave();
  try {
    // Raced even then: a failure of work that is no longer waited for must not end the process.
    return await Promise.race([work, aborted]);
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}

/** Waits, but not longer than until the signal is aborted. */
export async function restUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => {
    // Aborted: the caller's loop sees it.
  });
}

/** The work's result, or an error once the time is over; then the work is told by its signal, and not waited for. */
export async function within<T>(ms: number, late: () => Error, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  // Not `AbortSignal.timeout`: its timer would outlive the work, ten times for each run.
  const over = new AbortController();
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(late());
    over.abort();
  }, ms);
  try {
    return await Promise.race([work(over.signal), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
