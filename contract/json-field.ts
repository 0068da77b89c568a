/** The field of a JSON value that a dotted path names; undefined where there is none. A number names an item of a list. */
export function fieldAt(value: unknown, path: string | undefined): unknown {
  let at = value;
  for (const part of path === undefined ? [] : path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[part];
  }
  return at;
}
