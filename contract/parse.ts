import { z } from 'zod';
import { type ErrorCode, HotcellError, type Issue } from './errors.ts';

/** Where in the value: `blocks[0].code`, or `(whole)` for the value itself. */
export function pathOf(path: readonly PropertyKey[]): string {
  let text = '';
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text ? `.${String(step)}` : String(step);
  return text || '(whole)';
}

export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.map((issue) => ({ path: pathOf(issue.path), message: issue.message }));
}

/** Parse at a crossing. What does not parse becomes an error that names every field, and never gets further. */
export function parseAs<S extends z.ZodType>(
  schema: S,
  value: unknown,
  what: string,
  code: ErrorCode = 'invalid',
): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = issuesOf(parsed.error);
  const shown = issues.map((issue) => `${issue.path}: ${issue.message}`).join('; ');
  throw new HotcellError(code, `${what} is not valid: ${shown}`, { issues });
}

export function parseJsonAs<S extends z.ZodType>(
  schema: S,
  text: string,
  what: string,
  code: ErrorCode = 'invalid',
): z.output<S> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new HotcellError(code, `${what} is not JSON: ${cause instanceof Error ? cause.message : 'unparsable'}`, {
      cause,
    });
  }
  return parseAs(schema, value, what, code);
}
