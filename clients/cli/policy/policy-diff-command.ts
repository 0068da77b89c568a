import { existsSync } from 'node:fs';
import type { Policy } from '@hotcell/contract/policy.ts';
import { printRows } from '../columns.ts';
import type { Globals } from '../globals.ts';
import { policyOf } from './ask-policies.ts';
import { loadFile } from './local-policy.ts';
import { forReading } from './policy-yaml.ts';

interface Difference {
  path: string;
  a: unknown;
  b: unknown;
}

async function named(word: string, globals: Globals): Promise<Policy> {
  return /\.ya?ml$/.test(word) && existsSync(word) ? loadFile(word).policy : (await policyOf(word, globals)).policy;
}

/** Single values with their paths; a list is one value, as in merging. */
function leaves(value: unknown, path = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, path ? `${path}.${key}` : key));
}

export function differences(a: Policy, b: Policy): Difference[] {
  const [left, right] = [new Map(leaves(forReading(a))), new Map(leaves(forReading(b)))];
  return [...new Set([...left.keys(), ...right.keys()])]
    .toSorted()
    .map((path) => ({ path, a: left.get(path), b: right.get(path) }))
    .filter(({ a: one, b: other }) => JSON.stringify(one) !== JSON.stringify(other));
}

function shown(value: unknown): string {
  if (value === undefined) return '-';
  if (!Array.isArray(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  const names = value.map((item: unknown) =>
    typeof item === 'object' && item !== null && 'name' in item ? String(item.name) : String(item),
  );
  return names.length > 0 ? names.join(' ') : 'none';
}

export async function diff(a: string, b: string, globals: Globals): Promise<void> {
  const found = differences(await named(a, globals), await named(b, globals));
  if (found.length === 0 && !globals.json) process.stdout.write('no differences\n');
  else printRows(globals, found, ['FIELD', a, b], (one) => [one.path, shown(one.a), shown(one.b)]);
}
