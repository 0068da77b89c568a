import type { Digest } from '@hotcell/contract/digest.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import type { Eraser } from '@hotcell/contract/evidence/root-succession.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { stagedOf } from '@hotcell/contract/workspace.ts';
import type { Buckets } from '../buckets.ts';
import { snapshotsOfBatches } from '../batch-records.ts';
import { readResult } from '../commit.ts';
import { erasureBy } from '../erasures.ts';
import { namesOf } from '../snapshot-name.ts';
import { runsOf } from '../recorded-runs.ts';
import { findSpec } from '../run-spec.ts';
import { snapshotsOfSchedules } from '../schedule-records.ts';
import { snapshotsOfWorkflows } from '../workflow-records.ts';
import type { DigestFilter } from './digest-filter.ts';

const readsAtOnce = 24;

interface Marked {
  add(digest: Digest): void;
  has(digest: Digest): boolean;
}

/** What a name, a schedule, a batch, a workflow or a run of a tenant still points to. */
export interface Marks {
  snapshots: Marked;
  locations: Marked;
  contents: Marked;
}

/** One filter serves all tenants. */
export function marksIn(filter: DigestFilter, tenant: string): Marks {
  const of = (kind: keyof Marks): Marked => ({
    add: (digest) => filter.add(`${tenant}/${kind}/${digest}`),
    has: (digest) => filter.has(`${tenant}/${kind}/${digest}`),
  });
  return { snapshots: of('snapshots'), locations: of('locations'), contents: of('contents') };
}

/** The run was refused before it was accepted: nothing of it but its result is kept. */
const isRefusal = ({ outcome, spec }: Result) => outcome === 'rejected' && spec === null;

export interface MarkDeps {
  store: Buckets;
  /** A run whose erasure one of them signed needs its outputs no more. Without them, none is erased. */
  erasers: readonly Eraser[];
  /** Called between the steps; throws when the collection has to end. */
  keep: () => Promise<void>;
}

/**
 * From the tenant's names and schedules, and from every run: its result if it has ended, what was asked if it has not. Runs are read as
 * they are listed. Answers those that were refused.
 */
export async function markUsed({ store, erasers, keep }: MarkDeps, tenant: string, marks: Marks): Promise<RunId[]> {
  const refused: RunId[] = [];
  for await (const { snapshot } of namesOf(store, tenant)) marks.snapshots.add(snapshot);
  for await (const snapshot of snapshotsOfSchedules(store, tenant)) marks.snapshots.add(snapshot);
  for await (const snapshot of snapshotsOfWorkflows(store, tenant)) marks.snapshots.add(snapshot);
  for await (const pinned of snapshotsOfBatches(store, tenant)) markInputs([pinned], marks);
  await inLanes(readsAtOnce, runsOf(store, tenant), async ({ run, ended, erased }) => {
    await keep();
    const result = ended ? await readResult(store, tenant, run) : undefined;
    if (result && isRefusal(result)) refused.push(run);
    if (result) {
      const isErased = erased && (await erasureBy(store, erasers, result));
      return isErased ? markInputs(readBy(result), marks) : markResult(result, marks);
    }
    const found = await findSpec(store, tenant, run);
    if (found) markInputs(stagedOf(found.spec), marks);
  });
  return refused;
}

function markInputs(inputs: readonly { snapshot: Digest; locations?: Digest | undefined }[], marks: Marks): void {
  for (const { snapshot, locations } of inputs) {
    marks.snapshots.add(snapshot);
    if (locations) marks.locations.add(locations);
  }
}

/** Also the snapshot that its workspace began with. */
const readBy = ({ inputs, workspace }: Result) =>
  workspace ? [...inputs, { snapshot: workspace.before, locations: workspace.locations }] : inputs;

function markResult(result: Result, marks: Marks): void {
  const { outputs, workspace } = result;
  markInputs(readBy(result), marks);
  if (workspace?.after) marks.snapshots.add(workspace.after);
  if (outputs.snapshot) marks.snapshots.add(outputs.snapshot);
  // A small manifest may stand in the result alone.
  for (const file of outputs.files) marks.contents.add(file.sha256);
}
