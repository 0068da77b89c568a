import { z } from 'zod';
import { HotcellError, type Issue } from './errors.ts';
import { nearest } from './nearest.ts';
import { pathOf, showIssues } from './parse.ts';

/** What a schema cannot say about the values that it refuses. */
export interface Vocabulary {
  schema: z.ZodType;
  /** Of two shapes, the one that this value was meant to have; undefined if it could be either. */
  shapeOf: (value: unknown) => 0 | 1 | undefined;
  /** Fields of other executors, and what to do here instead. */
  foreign: ReadonlyMap<string, string>;
}

function unknownField(name: string, fields: readonly string[], foreign: Vocabulary['foreign']): string {
  const instead = fields.includes(name) ? undefined : foreign.get(name);
  if (instead) return instead;
  const near = nearest(name, fields);
  if (near) return `Unknown field "${name}". Did you mean "${near}"?`;
  const meant = nearest(name, [...foreign.keys()]);
  const also = meant ? ` If you mean "${meant}": ${foreign.get(meant)}` : '';
  return `Unknown field "${name}". Known fields: ${fields.join(', ')}.${also}`;
}

const typeNames: Readonly<Record<string, string>> = { array: 'list', int: 'whole number', record: 'object' };

function a(type: string): string {
  const name = typeNames[type] ?? type;
  return `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`;
}

function wrongType(expected: string, value: unknown): string {
  if (value === undefined) return `is required: give ${a(expected)}`;
  if (typeof value === 'number' && !Number.isFinite(value)) return 'must be a finite number';
  return `must be ${a(expected)}, not ${value === null ? 'null' : a(Array.isArray(value) ? 'array' : typeof value)}`;
}

const shownName = (name: string) => (name.length > 80 ? `${name.slice(0, 80)}…` : name);

/** A stranger chooses how many fields are wrong, and a hint costs a comparison with every known field. */
const mostHints = 50;
const mostIssues = 200;

export type PlacedIssue = Issue & { at: readonly PropertyKey[] };

function memberOf(value: unknown, step: PropertyKey): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    ? Reflect.get(value, step)
    : undefined;
}

/** The fields of a schema at a place; of two shapes, those of the one that the value there was meant to have. */
function fieldsAt(
  schema: z.core.$ZodType | undefined,
  path: readonly PropertyKey[],
  value: unknown,
  shapeOf: Vocabulary['shapeOf'],
): readonly string[] {
  const at = (inner: z.core.$ZodType | undefined) => fieldsAt(inner, path, value, shapeOf);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return at(schema.unwrap());
  if (schema instanceof z.ZodPipe) return at(schema.in);
  if (schema instanceof z.ZodUnion) return at(schema.options[shapeOf(value) ?? 0]);
  const [step, ...rest] = path;
  if (step === undefined) return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const below = (inner: z.core.$ZodType | undefined) => fieldsAt(inner, rest, memberOf(value, step), shapeOf);
  if (schema instanceof z.ZodArray) return below(schema.element);
  if (schema instanceof z.ZodRecord) return below(schema.valueType);
  return schema instanceof z.ZodObject ? below(schema.shape[String(step)]) : [];
}

/** Every issue with its place; unknown fields one by one, each with what was probably meant. */
export function explainIssues(error: z.ZodError, value: unknown, vocabulary: Vocabulary): PlacedIssue[] {
  const valueAt = (path: readonly PropertyKey[]) => path.reduce(memberOf, value);
  const placed = (at: readonly PropertyKey[], message: string): PlacedIssue => ({ at, path: pathOf(at), message });
  let hints = mostHints;
  const explained = (issue: z.core.$ZodIssue, outer: readonly PropertyKey[]): PlacedIssue[] => {
    const at = [...outer, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      const fields = fieldsAt(vocabulary.schema, at, value, vocabulary.shapeOf);
      const hinted = issue.keys.slice(0, hints).map(shownName);
      hints -= hinted.length;
      const rest = issue.keys.length - hinted.length;
      return [
        ...hinted.map((name) => placed([...at, name], unknownField(name, fields, vocabulary.foreign))),
        ...(rest > 0 ? [placed(at, `${rest} more unknown fields`)] : []),
      ];
    }
    if (issue.code === 'invalid_union') {
      // Of "neither this nor that", only the half that was meant helps.
      const shape = vocabulary.shapeOf(valueAt(at));
      if (shape !== undefined) return (issue.errors[shape] ?? []).flatMap((meant) => explained(meant, at));
    }
    if (issue.code === 'invalid_key') return [placed(at, issue.issues[0]?.message ?? issue.message)];
    return [placed(at, plainMessage(issue, valueAt(at)))];
  };
  const issues = error.issues.slice(0, mostIssues).flatMap((issue) => explained(issue, []));
  const rest = error.issues.length - mostIssues;
  return rest > 0 ? [...issues, placed([], `${rest} more fields are invalid`)] : issues;
}

/** zod's own messages in plain words; those that a schema brings stay as they are. */
function plainMessage(issue: z.core.$ZodIssue, value: unknown): string {
  if (!/^(?:Invalid|Too (?:big|small))/.test(issue.message)) return issue.message;
  const unit = { string: ' characters', array: ' items' };
  const unitOf = (origin: string) => (origin === 'string' || origin === 'array' ? unit[origin] : '');
  if (issue.code === 'invalid_type') return wrongType(issue.expected, value);
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}${unitOf(issue.origin)}`;
  if (issue.code === 'too_small')
    return `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}${unitOf(issue.origin)}`;
  if (issue.code === 'invalid_value') return `must be ${issue.values.map((one) => String(one)).join(' or ')}`;
  return issue.message;
}

/** Parses what a caller sent; of a wrong value, every field is named with what was probably meant. */
export function parseExplained<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const vocabulary = { schema, shapeOf: () => undefined, foreign: new Map<string, string>() };
  const issues = explainIssues(parsed.error, value, vocabulary).map(({ path, message }) => ({ path, message }));
  throw new HotcellError('invalid', `${what} is not valid: ${showIssues(issues)}`, { issues });
}
