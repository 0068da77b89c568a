import type { z } from 'zod';

type Issue = z.core.$ZodIssue;
interface Unknown {
  path: readonly PropertyKey[];
  keys: readonly string[];
}

/** The fields that a newer version adds; the value without them parses like one of this version. */
export function parseWithout<S extends z.ZodType>(
  schema: S,
  value: unknown,
): { data: z.output<S>; unknown: readonly Unknown[] } | { error: z.ZodError } {
  const asIs = schema.safeParse(value);
  if (asIs.success) return { data: asIs.data, unknown: [] };
  const unknown = unknownFields(asIs.error.issues);
  if (unknown.length === 0) return { error: asIs.error };
  const rest = structuredClone(value);
  for (const { path, keys } of unknown) leaveOut(rest, path, keys);
  const parsed = schema.safeParse(rest);
  return parsed.success ? { data: parsed.data, unknown } : { error: parsed.error };
}

function unknownFields(issues: readonly Issue[]): Unknown[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return [issue];
    if (issue.code !== 'invalid_union') return [];
    // Only unknown fields keep the value from this shape.
    const meant = issue.errors.find((errors) => errors.every(({ code }) => code === 'unrecognized_keys')) ?? [];
    return unknownFields(meant).map(({ path, keys }) => ({ path: [...issue.path, ...path], keys }));
  });
}

function leaveOut(value: unknown, path: readonly PropertyKey[], keys: readonly string[]): void {
  const inner = path.reduce((outer: unknown, step) => Object(outer)[step], value);
  for (const key of keys) Reflect.deleteProperty(Object(inner), key);
}
