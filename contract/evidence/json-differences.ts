import { canonical } from '../digest.ts';

export interface Difference {
  path: string;
  expected: string;
  found: string;
}

const mostShown = 10;

/** Where two JSON values differ, by the path of each place; at most ten. */
export function differencesOf(expected: unknown, found: unknown): Difference[] {
  const differences: Difference[] = [];
  compare(expected, found, '', differences);
  return differences;
}

function compare(expected: unknown, found: unknown, path: string, into: Difference[]): void {
  if (into.length >= mostShown || expected === found) return;
  if (!isObject(expected) || !isObject(found) || Array.isArray(expected) !== Array.isArray(found)) {
    if (shown(expected) !== shown(found))
      into.push({ path: path || '(whole)', expected: cut(shown(expected)), found: cut(shown(found)) });
    return;
  }
  const names = new Set([...Object.keys(expected), ...Object.keys(found)]);
  for (const name of names) {
    const step = Array.isArray(expected) ? `[${name}]` : path ? `.${name}` : name;
    compare(expected[name], found[name], path + step, into);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const shown = (value: unknown) => (value === undefined ? 'nothing' : canonical(value));
const cut = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text);
