import type { Digest } from '@hotcell/contract/digest.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { Buckets } from '../buckets.ts';
import { readResult } from '../commit.ts';
import { namesOf } from '../snapshot-name.ts';
import { runsOf } from '../recorded-runs.ts';
import { findSpec } from '../run-spec.ts';

const readsAtOnce = 24;

/** What a name or a run still points to. */
export interface Marks {
  snapshots: Set<Digest>;
  locations: Set<Digest>;
  contents: Set<Digest>;
}

/** From the tenant's names, and from every run: its result if it has ended, what was asked if it has not. */
export async function marksOf(store: Buckets, tenant: string): Promise<Marks> {
  const marks: Marks = { snapshots: new Set(), locations: new Set(), contents: new Set() };
  for await (const { snapshot } of namesOf(store, tenant)) marks.snapshots.add(snapshot);
  await inLanes(readsAtOnce, await Array.fromAsync(runsOf(store, tenant)), async ({ run, ended }) => {
    const result = ended ? await readResult(store, tenant, run) : undefined;
    if (result) return markResult(result, marks);
    const found = await findSpec(store, tenant, run);
    if (found) markInputs(found.spec.inputs, marks);
  });
  return marks;
}

function markInputs(inputs: readonly { snapshot: Digest; locations?: Digest | undefined }[], marks: Marks): void {
  for (const { snapshot, locations } of inputs) {
    marks.snapshots.add(snapshot);
    if (locations) marks.locations.add(locations);
  }
}

function markResult({ inputs, outputs }: Result, marks: Marks): void {
  markInputs(inputs, marks);
  if (outputs.snapshot) marks.snapshots.add(outputs.snapshot);
  // A small manifest may stand in the result alone.
  for (const file of outputs.files) marks.contents.add(file.sha256);
}
