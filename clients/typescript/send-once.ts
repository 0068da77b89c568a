import { randomUUID } from 'node:crypto';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { Backoff } from './backoff.ts';
import type { Http } from './http.ts';

export interface OnceOptions {
  /** What the same key and the same request again give is the same. Default: a new key. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Sends a request that makes something again when no answer came. Its key makes of both one. */
export async function sendOnce<T>(
  { patient }: Pick<Http, 'patient'>,
  { idempotencyKey = `ts-${randomUUID()}`, signal }: OnceOptions,
  send: (headers: { 'idempotency-key': string }) => Promise<T>,
): Promise<T> {
  const backoff = new Backoff();
  for (;;) {
    try {
      return await send({ 'idempotency-key': idempotencyKey });
    } catch (error) {
      // What the API refuses for now is its caller's to decide: a full queue may stay full.
      if (!(patient && error instanceof HotcellError && error.code === 'api_unreachable')) throw error;
      await backoff.failed(error, signal);
    }
  }
}
