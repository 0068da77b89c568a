import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, HotcellError, type Issue, messageOf } from '@hotcell/contract/errors.ts';
import { armCrashPoint } from './crash.ts';
import type { Calls } from './threads.ts';

export interface ThreadData {
  data: unknown;
  crashAt: string | undefined;
}
export interface Called {
  name: string;
  args: readonly unknown[];
}
export type Told =
  | { value: unknown }
  | {
      error: {
        code: ErrorCode | undefined;
        message: string;
        issues: readonly Issue[];
        extra: Readonly<Record<string, unknown>>;
      };
    };

/** In a thread: answers the calls of `Threads`. Bytes of an answer change hands and are not copied. */
export function answerCalls(open: (data: unknown) => Calls): void {
  const port = parentPort;
  // Also imported where it is only compiled.
  if (!port) return;
  const { data, crashAt } = workerData as ThreadData;
  armCrashPoint(crashAt);
  const calls = open(data);
  port.on('message', ({ name, args }: Called) => {
    try {
      const value = calls[name]?.(...(args as never[]));
      const parts = value instanceof Object && !Array.isArray(value) ? [value, ...Object.values(value)] : [];
      port.postMessage({ value } satisfies Told, buffersOf(parts));
    } catch (error) {
      port.postMessage({ error: toldOf(error) } satisfies Told);
    }
  });
}

/** The memory of bytes among these values, to be handed over instead of copied. */
export function buffersOf(parts: readonly unknown[]): ArrayBuffer[] {
  return parts.flatMap((part) =>
    // One that lies in a larger buffer shares that with others.
    part instanceof Uint8Array && part.buffer instanceof ArrayBuffer && part.byteLength === part.buffer.byteLength
      ? [part.buffer]
      : [],
  );
}

function toldOf(error: unknown): Extract<Told, { error: unknown }>['error'] {
  const { code, issues, extra } = error instanceof HotcellError ? error : { code: undefined, issues: [], extra: {} };
  return { code, message: messageOf(error), issues, extra };
}
