import { diffOf } from './snapshot-diff.ts';
import type { SnapshotEntry } from './snapshot.ts';
import { mostChangesNamed, type WorkspaceChanges } from './workspace.ts';

/** How the files at the end differ from those at the start; the first paths by name, the others by number. */
export function workspaceChanges(before: readonly SnapshotEntry[], after: readonly SnapshotEntry[]): WorkspaceChanges {
  const { added, changed, removed } = diffOf(before, after);
  const named = (entries: readonly { path: string }[], change: WorkspaceChanges['paths'][number]['change']) =>
    entries.slice(0, mostChangesNamed).map(({ path }) => ({ path, change }));
  const paths = [...named(changed, 'changed'), ...named(added, 'added'), ...named(removed, 'removed')];
  const counts = { added: added.length, changed: changed.length, removed: removed.length };
  return { ...counts, paths: paths.slice(0, mostChangesNamed) };
}
