import type { Digest } from '@hotcell/contract/digest.ts';
import { recordKeys } from '../layout.ts';
import { Result } from '@hotcell/contract/result.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import type { Buckets } from '../buckets.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { namesOf } from '../list-snapshot-names.ts';

const readsAtOnce = 24;

/** What somebody still points to. */
export interface Marks {
  snapshots: Set<Digest>;
  locations: Set<Digest>;
  contents: Set<Digest>;
}

/** From the tenant's names, and from every run: its result if it has ended, what was asked if it has not. */
export async function marksOf(store: Buckets, tenant: string): Promise<Marks> {
  const marks: Marks = { snapshots: new Set(), locations: new Set(), contents: new Set() };
  for await (const { snapshot } of namesOf(store, tenant)) marks.snapshots.add(snapshot);
  await inLanes(readsAtOnce, await runsOf(store, tenant), async ({ folder, ended }) => {
    if (ended) await markResult(store, `${folder}result.json`, marks);
    else await markSpec(store, `${folder}spec.json`, marks);
  });
  return marks;
}

async function runsOf(store: Buckets, tenant: string): Promise<{ folder: string; ended: boolean }[]> {
  const runs = new Map<string, boolean>();
  for await (const { key } of store.list(store.record, recordKeys.tenantRuns(tenant))) {
    const cut = key.lastIndexOf('/') + 1;
    const folder = key.slice(0, cut);
    const file = key.slice(cut);
    if (file === 'result.json') runs.set(folder, true);
    else if (file === 'spec.json' && !runs.has(folder)) runs.set(folder, false);
  }
  return [...runs].map(([folder, ended]) => ({ folder, ended }));
}

function markInputs(inputs: readonly { snapshot: Digest; locations?: Digest | undefined }[], marks: Marks): void {
  for (const { snapshot, locations } of inputs) {
    marks.snapshots.add(snapshot);
    if (locations) marks.locations.add(locations);
  }
}

async function markResult(store: Buckets, key: string, marks: Marks): Promise<void> {
  const result = await store.getJson(Result, store.record, key);
  if (!result) return;
  markInputs(result.inputs, marks);
  if (result.outputs.snapshot) marks.snapshots.add(result.outputs.snapshot);
  // A small manifest may stand in the result alone.
  for (const file of result.outputs.files) marks.contents.add(file.sha256);
}

async function markSpec(store: Buckets, key: string, marks: Marks): Promise<void> {
  const spec = await store.getJson(Spec, store.record, key);
  if (spec) markInputs(spec.inputs, marks);
}
