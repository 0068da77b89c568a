import type { z } from 'zod';
import type { Issue } from './errors.ts';
import { nearest } from './nearest.ts';
import { pathOf } from './parse.ts';

/** What a person needs to know about the values that a schema refuses, beyond what the schema itself can say. */
export interface Vocabulary {
  /** What may stand at this place. */
  fieldsAt(path: readonly PropertyKey[], value: unknown): readonly string[];
  /** Of two shapes, the one that this value was meant to have; undefined: nobody can tell. */
  shapeOf(value: unknown): 0 | 1 | undefined;
  /** Words that mean something elsewhere, and what to do here instead. */
  elsewhere: ReadonlyMap<string, string>;
}

function unknownKey(key: string, fields: readonly string[], elsewhere: Vocabulary['elsewhere']): string {
  const instead = fields.includes(key) ? undefined : elsewhere.get(key);
  if (instead) return instead;
  const near = nearest(key, fields);
  if (near) return `is no field of this; did you mean ${near}?`;
  const meant = nearest(key, [...elsewhere.keys()]);
  const also = meant ? `; if ${meant} was meant: that ${elsewhere.get(meant)}` : '';
  return `is no field of this (its fields: ${fields.join(', ')})${also}`;
}

function wrongType(expected: string, value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'is no number that anything can be bounded by';
  const what = value === null ? 'null' : Array.isArray(value) ? 'a list' : `${aOrAn(typeof value)} ${typeof value}`;
  const wanted =
    expected === 'array' ? 'a list' : expected === 'int' ? 'a whole number' : `${aOrAn(expected)} ${expected}`;
  return value === undefined ? `is missing: give ${wanted}` : `is ${what}: give ${wanted}`;
}

const aOrAn = (word: string) => (/^[aeio]/.test(word) ? 'an' : 'a');
const shownKey = (key: string) => (key.length > 80 ? `${key.slice(0, 80)}…` : key);

export type PlacedIssue = Issue & { at: readonly PropertyKey[] };

/** Every issue with its place, unknown keys one by one with what was probably meant. */
export function explain(error: z.ZodError, value: unknown, vocabulary: Vocabulary): PlacedIssue[] {
  const valueAt = (path: readonly PropertyKey[]) =>
    path.reduce<unknown>(
      (inner, step) =>
        typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step)
          ? Reflect.get(inner, step)
          : undefined,
      value,
    );
  const placed = (at: readonly PropertyKey[], message: string): PlacedIssue => ({ at, path: pathOf(at), message });
  const explained = (issue: z.core.$ZodIssue, outer: readonly PropertyKey[]): PlacedIssue[] => {
    const at = [...outer, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      const fields = vocabulary.fieldsAt(at, valueAt(at));
      return issue.keys.map((key) => placed([...at, shownKey(key)], unknownKey(key, fields, vocabulary.elsewhere)));
    }
    if (issue.code === 'invalid_union') {
      // Of "neither this nor that" only the half that was meant helps.
      const shape = vocabulary.shapeOf(valueAt(at));
      if (shape !== undefined) return (issue.errors[shape] ?? []).flatMap((meant) => explained(meant, at));
    }
    if (issue.code === 'invalid_key') return [placed(at, issue.issues[0]?.message ?? issue.message)];
    if (issue.code === 'invalid_type' && issue.message.startsWith('Invalid input'))
      return [placed(at, wrongType(issue.expected, valueAt(at)))];
    return [placed(at, issue.message)];
  };
  return error.issues.flatMap((issue) => explained(issue, []));
}
