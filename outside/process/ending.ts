import type { Logger } from './log.ts';

const lastMs = 1_000;

/**
 * A process that is asked to end has `withinMs` to do so. After that it can only be waiting for an answer that does not
 * come, or for a peer to close a connection. No promise is kept in memory alone, so it exits. Open it first, so that it
 * is disposed last, when nothing is left worth waiting for.
 */
export function openEnding(log: Logger, withinMs: number) {
  const asked = new AbortController();
  const end = () => {
    endWithin(log, withinMs);
    asked.abort();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end);
  return { asked: asked.signal, [Symbol.dispose]: () => endWithin(log, lastMs) };
}

function endWithin(log: Logger, withinMs: number): void {
  const late = setTimeout(() => {
    log.warn({ withinMs }, 'exiting with connections still open: they did not close in time');
    process.exit();
  }, withinMs);
  late.unref();
}
