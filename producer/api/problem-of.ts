import { type Problem, problemStatuses } from '@hotcell/contract/api/problem.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import type { FastifyError } from 'fastify';

/** What the HTTP framework itself refuses, in our words. */
function ours(cause: unknown): HotcellError {
  if (cause instanceof HotcellError) return ofOurParts(cause);
  const status = (cause as Partial<FastifyError> | null)?.statusCode ?? 500;
  if (status === 415)
    return new HotcellError('unsupported_media_type', 'Send the body as content-type: application/json.', { cause });
  if (status === 404) return new HotcellError('not_found', messageOf(cause), { cause });
  if (status >= 400 && status < 500) return new HotcellError('invalid', messageOf(cause), { cause });
  return internal(cause);
}

/** What a part of ours says of another names buckets, keys and addresses of the inside. The log has it. */
function ofOurParts(cause: HotcellError): HotcellError {
  const { code } = cause;
  if (code === 'store_unavailable') return new HotcellError(code, unavailable('The object store'), { cause });
  if (code === 'queue_unavailable') return new HotcellError(code, unavailable('The queue'), { cause });
  if (cause instanceof PreconditionFailed)
    return new HotcellError('conflict', 'Another request changed the same at the same time. Try again.', { cause });
  if (code === 'forbidden' && isOfStore(cause.cause)) return internal(cause);
  return cause;
}

const unavailable = (part: string) =>
  `${part} does not answer at the moment. Try again; if it persists, give the operator the requestId.`;

function isOfStore(error: unknown): boolean {
  return typeof error === 'object' && error !== null && '$metadata' in error;
}

function internal(cause: unknown): HotcellError {
  // Not told to the caller: it may name addresses, paths or secrets of the inside. The log has it.
  return new HotcellError(
    'internal',
    'An internal error occurred. Try again; if it persists, give the operator the requestId.',
    { cause },
  );
}

export function problemOf(error: unknown, requestId: string): Problem {
  const known = ours(error);
  return {
    ...known.extra,
    type: `urn:hotcell:error:${known.code}`,
    title: problemStatuses[known.status]?.title ?? 'Failed',
    status: known.status,
    code: known.code,
    detail: known.message,
    errors: known.issues.map(({ path, message }) => ({ path, message })),
    requestId,
    retryable: known.retryable,
  };
}
