import { routes } from '@hotcell/contract/api/routes.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { counted } from '@hotcell/contract/format.ts';
import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import type { AtHand } from '../client.ts';
import { columns } from '../columns.ts';
import { printJson } from '../globals.ts';
import { say } from '../voice.ts';
import { comparedTables } from './compared-tables.ts';
import { type Asked, type Described, describeTables, tablesAmong } from './describe-tables.ts';

interface Difference {
  before: string;
  after: string;
  added: readonly SnapshotEntry[];
  removed: readonly SnapshotEntry[];
  changed: readonly { path: string; before: SnapshotEntry; after: SnapshotEntry }[];
  same: number;
}

/** Prints how two snapshots differ: by file and size, and of tables by what is in them. */
export async function compareSnapshots(at: AtHand, before: string, after: string, tables: boolean): Promise<void> {
  const diff = await at.client.call(routes.diffSnapshots, { params: { snapshot: before, other: after } });
  const described = tables ? await describe(at, diff) : undefined;
  if (at.globals.json) return printJson({ ...diff, ...(described && { tables: described }) });
  process.stdout.write(filesOf(diff));
  if (described && described.length > 0) process.stdout.write(`\n${comparedTables(described)}`);
}

export function filesOf({ added, removed, changed, same }: Omit<Difference, 'before' | 'after'>): string {
  const rows = [
    ...added.map((entry) => ['added', entry.path, String(entry.size)]),
    ...removed.map((entry) => ['removed', entry.path, String(entry.size)]),
    ...changed.map(({ path, before: old, after: now }) => ['changed', path, `${old.size} → ${now.size}`]),
  ];
  const table = rows.length > 0 ? columns(['WHAT', 'PATH', 'BYTES'], rows) : '';
  return `${table}${counted(same, 'file')} unchanged\n`;
}

/** What differs is described if it can be; without it, files and sizes still say something. */
export async function describe({ client, note }: AtHand, diff: Difference): Promise<Described | undefined> {
  const asked: Asked[] = [
    ...diff.changed.flatMap(({ path, before, after }) => [
      { side: 'before' as const, path, size: before.size },
      { side: 'after' as const, path, size: after.size },
    ]),
    ...diff.added.map(({ path, size }) => ({ side: 'after' as const, path, size })),
    ...diff.removed.map(({ path, size }) => ({ side: 'before' as const, path, size })),
  ];
  const { tables, left } = tablesAmong(asked);
  if (tables.length === 0) return undefined;
  if (left > 0) note(`${counted(left, 'table')} more than one comparison reads are left out.`);
  try {
    return await describeTables(client, { before: diff.before, after: diff.after }, tables, note);
  } catch (error) {
    say('warning', `The tables were not compared: ${messageOf(error)}`);
    return undefined;
  }
}
