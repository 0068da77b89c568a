import { canonical, digestOf } from './digest.ts';
import type { ScheduleVersion } from './schedule.ts';

type Change = ScheduleVersion['changes'][number];

/** So many changes are named one by one. */
const mostChanges = 100;
const longest = 200;

/** What differs between two versions of a schedule, by the places of the fields. */
export function changesBetween(before: object, after: object): Change[] {
  const changes: Change[] = [];
  const left: [path: string, before: unknown, after: unknown][] = [['', before, after]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [path, a, b] = next;
    if (isObject(a) && isObject(b)) {
      const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].toSorted().toReversed();
      for (const name of names) left.push([path ? `${path}.${name}` : name, a[name], b[name]]);
    } else if (shown(a) !== shown(b)) changes.push({ path, before: shown(a), after: shown(b) });
    if (changes.length >= mostChanges) return changes;
  }
  return changes;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Short values as they are; others by their digest, which tells them apart. */
function shown(value: unknown): string {
  if (value === undefined) return '';
  // In a fixed order of its fields: a version that was read again has another than its request had.
  const text = canonical(value);
  return text.length <= longest ? text : digestOf(value);
}
