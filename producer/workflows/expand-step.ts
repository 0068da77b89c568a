import { HotcellError } from '@hotcell/contract/errors.ts';
import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { workflowLimits } from '@hotcell/contract/workflow.ts';
import { manifestAt } from '@hotcell/record/snapshot-store.ts';
import type { Producer } from '../producer.ts';
import { resolveInput } from '../snapshots/resolve.ts';
import type { KnownWorkflow } from './known-workflow.ts';
import { listPartitions } from './step-partitions.ts';
import { sourceOf } from './task-inputs.ts';

/** What a step fans out over. It follows from snapshots and the definition, so every leader lists the same. */
export async function expandStep(producer: Producer, known: KnownWorkflow, step: string): Promise<void> {
  const over = known.graph[step]?.over;
  if (!over) return;
  if ('items' in over) return void known.fans.set(step, over.items);
  try {
    if ('partitions' in over) {
      const found = await listPartitions(producer, known, over);
      known.partitions.set(step, found);
      known.fans.set(step, found.values.length);
      return;
    }
    const files = await filesOf(producer, known, over.files);
    known.files.set(step, files);
    known.fans.set(step, files.length);
  } catch (error) {
    if (!(error instanceof HotcellError) || error.retryable) throw error;
    known.fans.set(step, { refused: `It can't fan out: ${error.message}` });
  }
}

async function filesOf(producer: Producer, known: KnownWorkflow, named: string): Promise<SnapshotEntry[]> {
  const source = await sourceOf(producer, known, named);
  const { snapshot, files } = await resolveInput(producer, known.tenant, source);
  if (files <= workflowLimits.items) return await manifestAt(producer.store, known.tenant, snapshot);
  throw new HotcellError(
    'invalid',
    `There are ${files} files, and a step fans out to at most ${workflowLimits.items}. Use a batch, or group the files.`,
  );
}
