import type { SnapshotEntry } from './snapshot.ts';

/** How the files of one snapshot differ from another's, by path. */
export function diffOf(before: readonly SnapshotEntry[], after: readonly SnapshotEntry[]) {
  const old = new Map(before.map((entry) => [entry.path, entry]));
  const added: SnapshotEntry[] = [];
  const changed: { path: string; before: SnapshotEntry; after: SnapshotEntry }[] = [];
  let same = 0;
  for (const entry of after) {
    const was = old.get(entry.path);
    old.delete(entry.path);
    if (!was) added.push(entry);
    else if (was.sha256 === entry.sha256 && was.size === entry.size) same++;
    else changed.push({ path: entry.path, before: was, after: entry });
  }
  return { added, removed: [...old.values()], changed, same };
}
