import { z } from 'zod';
import { type ErrorCode, HotcellError, type Issue, messageOf } from './errors.ts';
import { parseWithout } from './unknown-fields.ts';

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
  throw notValid(parsed.error, what, code);
}

export function parseJsonAs<S extends z.ZodType>(
  schema: S,
  text: string,
  what: string,
  code: ErrorCode = 'invalid',
): z.output<S> {
  return parseAs(schema, jsonIn(text, what, code), what, code);
}

/** The same for what a process of ours wrote, which may be newer: fields that it adds are left out. */
export function parseOurs<S extends z.ZodType>(
  schema: S,
  text: string,
  what: string,
  code: ErrorCode = 'internal',
): z.output<S> {
  const parsed = parseWithout(schema, jsonIn(text, what, code));
  if ('error' in parsed) throw notValid(parsed.error, what, code);
  return parsed.data;
}

/**
 * The same, with the fields that a newer version adds, though nothing here knows them: the value is then, byte for byte,
 * the one that a digest names. For schemas without defaults.
 */
export function parseKept<S extends z.ZodType>(
  schema: S,
  text: string,
  what: string,
  code: ErrorCode,
): { value: z.output<S>; unknown: string[] } {
  const value = jsonIn(text, what, code);
  const parsed = parseWithout(schema, value);
  if ('error' in parsed) throw notValid(parsed.error, what, code);
  const unknown = parsed.unknown.flatMap(({ path, keys }) => keys.map((key) => pathOf([...path, key])));
  return { value: unknown.length === 0 ? parsed.data : (value as z.output<S>), unknown };
}

function jsonIn(text: string, what: string, code: ErrorCode): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HotcellError(code, `${what} is not JSON: ${messageOf(cause)}`, { cause });
  }
}

function notValid(error: z.ZodError, what: string, code: ErrorCode): HotcellError {
  const issues = issuesOf(error);
  return new HotcellError(code, `${what} is not valid: ${showIssues(issues)}`, { issues });
}
