import type { Digest } from '@hotcell/contract/digest.ts';
import type { Issue } from '@hotcell/contract/errors.ts';
import type { WorkspaceChanges } from '@hotcell/contract/workspace.ts';
import type { Buckets } from './buckets.ts';
import type { WorkspaceOf } from './long-calls.ts';
import { longWork } from './long-work.ts';
import { withManifest, withManifests } from './snapshot-store.ts';

/** How the files at a run's end differ from those of the snapshot that it began with. */
export async function changesSince(
  store: Buckets,
  tenant: string,
  before: Digest,
  after: Digest,
): Promise<WorkspaceChanges> {
  return await withManifests(store, tenant, [before, after], ([old, now], bytes) =>
    longWork(bytes, 'workspaceChanges', old, before, now, after),
  );
}

/** Why a snapshot can't be the workspace of such a run. */
export async function unfitWorkspace(
  store: Buckets,
  tenant: string,
  snapshot: Digest,
  run: WorkspaceOf,
): Promise<Issue[]> {
  return await withManifest(store, tenant, snapshot, (manifest, bytes) =>
    longWork(bytes, 'unfitWorkspace', manifest, snapshot, run),
  );
}
