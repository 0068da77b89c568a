import { HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import type { FastifyError } from 'fastify';
import { z } from 'zod';

export const Problem = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string(),
    detail: z.string(),
    errors: z.array(z.strictObject({ path: z.string(), message: z.string() })),
    requestId: z.string(),
    retryable: z.boolean(),
  })
  .describe('RFC 9457: what went wrong, where, and whether trying again may help');
export type Problem = z.infer<typeof Problem>;

const titles: Readonly<Record<number, string>> = {
  400: 'Not valid',
  401: 'Not authenticated',
  403: 'Not allowed',
  404: 'Not found',
  409: 'Conflict',
  413: 'Too large',
  415: 'Not JSON',
  422: 'Refused',
  429: 'Too much at once',
  500: 'Our failure',
  503: 'Not available',
};

/** Of what the server itself refuses (a body that is no JSON, a path that cannot be decoded), in our words. */
function ours(error: unknown): HotcellError {
  if (error instanceof HotcellError) return error;
  const status = (error as Partial<FastifyError> | null)?.statusCode ?? 500;
  const message = error instanceof Error ? error.message : String(error);
  if (status === 413)
    return new HotcellError('too_large', 'the body is larger than 64 MiB: pass big data as an input', { cause: error });
  if (status === 404) return new HotcellError('not_found', message, { cause: error });
  if (status >= 400 && status < 500) return new HotcellError('invalid', message, { cause: error });
  // What broke inside is for the log; it may name things that are none of the caller's business.
  return new HotcellError(
    'internal',
    'something broke here: try again, and if it persists give the operator the requestId',
    { cause: error },
  );
}

export function problemOf(error: unknown, requestId: string): Problem {
  const known = ours(error);
  const errors: Issue[] = known.issues.map(({ path, message }) => ({ path, message }));
  return {
    ...known.extra,
    type: `urn:hotcell:error:${known.code}`,
    title: titles[known.status] ?? 'Failed',
    status: known.status,
    code: known.code,
    detail: known.message,
    errors,
    requestId,
    retryable: known.retryable,
  };
}
