import { HotcellError } from '@hotcell/contract/errors.ts';
import { workflowLimits } from '@hotcell/contract/workflow.ts';
import { manifestAt } from '@hotcell/record/snapshot-store.ts';
import type { Producer } from '../producer.ts';
import { resolveInput } from '../snapshots/resolve.ts';
import type { FanItem, KnownWorkflow } from './known-workflow.ts';
import { sourceOf } from './task-inputs.ts';

/** What a step fans out over. It follows from snapshots and the definition, so every leader lists the same. */
export async function expandStep(producer: Producer, known: KnownWorkflow, step: string): Promise<void> {
  try {
    const items = await itemsOf(producer, known, step);
    known.items.set(step, items);
    known.fans.set(step, items.length);
  } catch (error) {
    if (!(error instanceof HotcellError) || error.retryable) throw error;
    known.fans.set(step, { refused: `It can't fan out: ${error.message}` });
  }
}

async function itemsOf(producer: Producer, known: KnownWorkflow, step: string): Promise<FanItem[]> {
  const over = known.graph[step]?.over;
  if (!over) return [];
  if ('items' in over)
    return within(
      over.items.map((value) => ({ value })),
      known,
    );
  const source = await sourceOf(producer, known, over.files);
  const { snapshot, files } = await resolveInput(producer, known.tenant, source);
  if (files > workflowLimits.items) throw tooMany(files);
  return within(await manifestAt(producer.store, known.tenant, snapshot), known);
}

function within<T>(items: T[], known: KnownWorkflow): T[] {
  const others = [...known.fans.values()].reduce<number>((sum, fan) => sum + (typeof fan === 'number' ? fan : 0), 0);
  if (others + items.length <= workflowLimits.tasks) return items;
  throw new HotcellError(
    'invalid',
    `All steps together have ${others + items.length} tasks, and ${workflowLimits.tasks} are the most.`,
  );
}

function tooMany(files: number): HotcellError {
  return new HotcellError(
    'invalid',
    `There are ${files} files, and a step fans out to at most ${workflowLimits.items}. Use a batch, or group the files.`,
  );
}
