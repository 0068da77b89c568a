import { z } from 'zod';
import { type ErrorCode, HotcellError, type Issue, messageOf } from './errors.ts';

/** A place in a value: `blocks[0].code`, or `(whole)` for the value itself. */
export function pathOf(path: readonly PropertyKey[]): string {
  let text = '';
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text ? `.${String(step)}` : String(step);
  return text || '(whole)';
}

/** One issue as a line. A place in parentheses, like (caller), is no field: the message says it all. */
export function showIssue({ path, message }: Issue): string {
  return path.startsWith('(') ? message : `${path}: ${message}`;
}

/** All issues in one line. */
export function showIssues(issues: readonly Issue[]): string {
  return issues.map(showIssue).join('; ').replaceAll('.; ', '. ');
}

export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.map((issue) => ({ path: pathOf(issue.path), message: issue.message }));
}

/** Parses a value at a crossing. An invalid one becomes an error that names every field, and gets no further. */
export function parseAs<S extends z.ZodType>(
  schema: S,
  value: unknown,
  what: string,
  code: ErrorCode = 'invalid',
): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = issuesOf(parsed.error);
  throw new HotcellError(code, `${what} is not valid: ${showIssues(issues)}`, { issues });
}

export function parseJsonAs<S extends z.ZodType>(
  schema: S,
  text: string,
  what: string,
  code: ErrorCode = 'invalid',
): z.output<S> {
  return parseAs(schema, jsonIn(text, what, code), what, code);
}

export function jsonIn(text: string, what: string, code: ErrorCode): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HotcellError(code, `${what} is not JSON: ${messageOf(cause)}`, { cause });
  }
}
