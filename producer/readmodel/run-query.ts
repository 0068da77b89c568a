import type { SQLInputValue } from 'node:sqlite';
import type { RunRow } from '@hotcell/contract/api/runs.ts';
import { dayMs } from '@hotcell/contract/day-length.ts';
import { idsFrom } from '@hotcell/contract/names.ts';
import { Outcome } from '@hotcell/contract/outcomes.ts';
import type { RunStatus } from '@hotcell/contract/result.ts';

export interface Wanted {
  status?: RunStatus | Outcome | undefined;
  labels: readonly (readonly [name: string, value: string])[];
  since?: Date | undefined;
  /** The last run of the page before; pages go from newest to oldest. */
  before?: string | undefined;
  limit: number;
}

/** Part of a page. `before`: where the next one goes on; undefined when there is nothing more. */
export interface Slice {
  rows: RunRow[];
  before: string | undefined;
}

/**
 * The runs in the order of one index, from newest to oldest, and for each whether it fits. What the index cannot tell
 * is not in the condition: the reader counts the rows it looks at, and stops.
 */
export function queryFor(tenant: string, wanted: Wanted): { text: string; values: SQLInputValue[] } {
  const [first, ...others] = wanted.labels;
  const fits: [text: string, ...values: SQLInputValue[]][] = others.map(([name, value]) => [
    'exists (select 1 from labels l where l.tenant = r.tenant and l.name = ? and l.value = ? and l.run = r.run)',
    name,
    value,
  ]);
  const where: [text: string, ...values: SQLInputValue[]][] = [];
  if (wanted.status)
    (first ? fits : where).push([
      Outcome.safeParse(wanted.status).success ? 'r.outcome = ?' : 'r.status = ?',
      wanted.status,
    ]);
  const from = first ? 'labels i cross join runs r on r.run = i.run' : 'runs r';
  const index = first ? 'i' : 'r';
  if (first) where.push(['i.name = ?', first[0]], ['i.value = ?', first[1]]);
  if (wanted.since) {
    fits.push(['r.accepted_at >= ?', wanted.since.toISOString()]);
    // An id says the same by another clock.
    where.push([`${index}.run >= ?`, idsFrom(wanted.since.getTime() - dayMs)]);
  }
  if (wanted.before !== undefined) where.push([`${index}.run < ?`, wanted.before]);
  const both = (parts: typeof where, none: string) => parts.map(([text]) => text).join(' and ') || none;
  const text = `select r.*, (${both(fits, '1')}) as fits from ${from}
    where ${index}.tenant = ? and ${both(where, '1')} order by ${index}.run desc`;
  return {
    text,
    values: [...fits.flatMap(([, ...given]) => given), tenant, ...where.flatMap(([, ...given]) => given)],
  };
}
