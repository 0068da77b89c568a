import { refuseErased } from '@hotcell/record/erasures.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { NameVersion, RunId } from '@hotcell/contract/names.ts';
import { readResult } from '@hotcell/record/commit.ts';
import type { SnapshotNameRecord } from '@hotcell/record/schemas.ts';
import { pointsTo, readName, versionOf } from '@hotcell/record/snapshot-name.ts';
import { type KeptSnapshot, useSnapshot } from '@hotcell/record/snapshot-store.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { freezeOutputs } from '../freeze/freeze-outputs.ts';
import { freezePrefix } from '../freeze/prefix.ts';
import type { ReadDeps } from '../freeze/read-object.ts';
import type { TallyLimits } from '../freeze/tally.ts';
import { sourceForm } from './source.ts';

/** From what a submitter names to what a run is pinned to. It happens once, when the run is accepted, and never later. */
export async function resolveInput(
  deps: ReadDeps,
  tenant: string,
  source: string,
  limits?: TallyLimits,
): Promise<KeptSnapshot> {
  const form = sourceForm(source);
  switch (form.kind) {
    case 'id':
      return inUse(deps.store, tenant, form.id, `Snapshot ${form.id} not found`);
    case 'name': {
      const id = await idOfName(deps.store, tenant, form.name);
      return inUse(
        deps.store,
        tenant,
        id,
        `The name ${form.name} points to ${id}, which was removed or collected as garbage`,
      );
    }
    case 'version': {
      const id = await idOfVersion(deps.store, tenant, form);
      return inUse(deps.store, tenant, id, `${source} points to ${id}, which was removed or collected as garbage`);
    }
    case 'outputs':
      return freezeOutputs(deps.store, tenant, form.run);
    case 'workspace':
      return workspaceOf(deps.store, tenant, form.run);
    case 's3':
      return freezePrefix(deps, tenant, form, { mode: 'copy', by: 'run', ...(limits && { limits }) });
  }
}

export async function idOfName(store: Buckets, tenant: string, name: string): Promise<Digest> {
  return pointsTo(await nameInUse(store, tenant, name));
}

export async function idOfVersion(store: Buckets, tenant: string, asked: NameVersion): Promise<Digest> {
  return versionOf(await nameInUse(store, tenant, asked.name), asked).snapshot;
}

async function nameInUse(store: Buckets, tenant: string, name: string): Promise<SnapshotNameRecord> {
  const found = await readName(store, tenant, name);
  if (found && !found.removed) return found;
  const what = found?.removed
    ? `The name ${name} was removed by ${found.removed.by} at ${found.removed.at}.`
    : `No snapshot is named ${name}.`;
  throw new HotcellError('not_found', `${what} GET /v1/snapshot-names lists the names.`);
}

/** What a run left in its /work. */
async function workspaceOf(store: Buckets, tenant: string, run: RunId): Promise<KeptSnapshot> {
  const result = await readResult(store, tenant, run);
  if (!result) throw new HotcellError('not_found', `Run ${run} has not finished, or does not exist.`);
  await refuseErased(store, tenant, run);
  const after = result.workspace?.after;
  if (after) return inUse(store, tenant, after, `The workspace that run ${run} left, ${after}, was removed`);
  const why = result.workspace ? (result.workspace.lost ?? 'Its program did not come to its end.') : 'It had none.';
  throw new HotcellError('not_found', `Run ${run} (${result.outcome}) left no workspace. ${why}`);
}

async function inUse(store: Buckets, tenant: string, id: Digest, otherwise: string): Promise<KeptSnapshot> {
  const record = await useSnapshot(store, tenant, id);
  if (!record) throw new HotcellError('not_found', `${otherwise}. Freeze its source again.`);
  const { snapshot, locations, files, bytes } = record;
  return { snapshot, locations, files, bytes };
}
