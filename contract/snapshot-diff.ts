import type { SnapshotEntry } from './snapshot.ts';

export interface SnapshotDiff {
  added: SnapshotEntry[];
  removed: SnapshotEntry[];
  changed: { path: string; before: SnapshotEntry; after: SnapshotEntry }[];
  same: number;
}

/** How the files of one snapshot differ from another's, by path. */
export function diffOf(before: readonly SnapshotEntry[], after: readonly SnapshotEntry[]): SnapshotDiff {
  const old = new Map(before.map((entry) => [entry.path, entry]));
  const diff: SnapshotDiff = { added: [], removed: [], changed: [], same: 0 };
  for (const entry of after) {
    const was = old.get(entry.path);
    old.delete(entry.path);
    if (!was) diff.added.push(entry);
    else if (was.sha256 === entry.sha256 && was.size === entry.size) diff.same += 1;
    else diff.changed.push({ path: entry.path, before: was, after: entry });
  }
  diff.removed.push(...old.values());
  return diff;
}
