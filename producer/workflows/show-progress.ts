import type { StepStanding } from '@hotcell/contract/workflow-decide.ts';
import { putWorkflowProgress } from '@hotcell/record/workflow-records.ts';
import type { Producer } from '../producer.ts';
import type { KnownWorkflow } from './known-workflow.ts';

/** A wide workflow is long to write down. */
const everyMs = 1_000;
const everyMsWhenWide = 10_000;
const wideTasks = 500;

/** Writes down how the workflow stands, for those who look: when it changed, and not too often. */
export async function showProgress(
  { store }: Producer,
  known: KnownWorkflow,
  steps: readonly StepStanding[],
): Promise<void> {
  const { tenant, id, problem, shown } = known;
  const least = known.tasks.size > wideTasks ? everyMsWhenWide : everyMs;
  if (Date.now() - shown.at < least) return;
  const text = JSON.stringify([problem, steps]);
  if (text === shown.steps) return;
  const at = new Date().toISOString();
  const told = problem === undefined ? {} : { problem };
  await putWorkflowProgress(store, { version: 1, tenant, workflow: id, at, ...told, steps: [...steps] });
  known.shown = { at: Date.now(), steps: text };
}
