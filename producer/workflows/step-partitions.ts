import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { byPartition } from '@hotcell/contract/partitions.ts';
import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { workflowLimits } from '@hotcell/contract/workflow.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { manifestAt } from '@hotcell/record/snapshot-store.ts';
import type { Producer } from '../producer.ts';
import { resolveInput } from '../snapshots/resolve.ts';
import type { KnownWorkflow } from './known-workflow.ts';
import { sourceOf } from './task-inputs.ts';

/** A leader holds the values alone: the files of all open workflows would take too much memory. */
export interface StepPartitions {
  snapshot: Digest;
  by: string;
  values: readonly string[];
}

export interface PartitionItem {
  partition: { key: string; value: string };
  files: readonly SnapshotEntry[];
}

export async function listPartitions(
  producer: Producer,
  known: KnownWorkflow,
  { partitions, by }: { partitions: string; by: string },
): Promise<StepPartitions> {
  const source = await sourceOf(producer, known, partitions);
  const { snapshot, files } = await resolveInput(producer, known.tenant, source);
  if (files > workflowLimits.partitionFiles)
    throw tooMany(`${files} files, and a step takes at most ${workflowLimits.partitionFiles} in partitions`);
  const paths = (await manifestAt(producer.store, known.tenant, snapshot)).map(({ path }) => path);
  const values = byPartition(paths, by).map(({ value }) => value);
  if (values.length > workflowLimits.items)
    throw tooMany(`${values.length} values of ${by}, and a step fans out to at most ${workflowLimits.items}`);
  return { snapshot, by, values };
}

function tooMany(what: string): HotcellError {
  return new HotcellError('invalid', `There are ${what}. Use a batch, or group the files.`);
}

/** The files of the partition of a task, at their own paths. */
export async function partitionOf(
  store: Buckets,
  tenant: string,
  { snapshot, by, values }: StepPartitions,
  index: number,
): Promise<PartitionItem | undefined> {
  const value = values[index];
  if (value === undefined) return undefined;
  const entries = await manifestAt(store, tenant, snapshot);
  const paths = byPartition(
    entries.map(({ path }) => path),
    by,
  ).find((one) => one.value === value)?.files;
  const wanted = new Set(paths);
  return { partition: { key: by, value }, files: entries.filter(({ path }) => wanted.has(path)) };
}
