import { randomUUID } from 'node:crypto';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { refusedUnder } from './failure.ts';

interface Named {
  idempotencyKey?: string | undefined;
  policy?: string | undefined;
}

/**
 * Always under a key. Where the answer of the API is lost, what it was asked for may have begun: the failure then names
 * the key, so that the caller's next call is not a second one. A key made from the call would not do: the ids of requests
 * begin anew with every connection.
 */
export async function submitOnce<T>(
  { idempotencyKey, policy }: Named,
  send: (headers: Record<string, string>) => Promise<T>,
): Promise<T> {
  const key = idempotencyKey ?? `mcp-${randomUUID()}`;
  try {
    return await send({ 'idempotency-key': key });
  } catch (error) {
    throw refusedUnder(namingKey(error, key), policy);
  }
}

function namingKey(error: unknown, key: string): unknown {
  if (!(error instanceof HotcellError && error.retryable)) return error;
  const { code, message, issues, extra } = error;
  const next = `It may have begun. Call again with the same arguments and "${key}" as idempotencyKey: nothing begins twice.`;
  return new HotcellError(code, message, {
    issues: [...issues, { path: 'idempotencyKey', message: next }],
    cause: error,
    extra,
  });
}
