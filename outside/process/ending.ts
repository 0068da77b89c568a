import type { Logger } from './log.ts';

/** How this process ends. Opened first, so that it is closed last: then nothing is left that is worth waiting for. */
export interface Ending extends Disposable {
  /** Aborted when this process is asked to end. */
  readonly asked: AbortSignal;
}

const lastMs = 1_000;

/**
 * Asked to end, a process has so long. What it still waits for after that is an answer that does not come, or a
 * connection that the other side does not close: nothing that was promised to anybody stands in its memory, so it goes
 * without.
 */
export function openEnding(log: Logger, withinMs: number): Ending {
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
    log.warn({ withinMs }, 'what is still open after so long is left as it is');
    process.exit();
  }, withinMs);
  late.unref();
}
