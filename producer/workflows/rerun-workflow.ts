import { HotcellError } from '@hotcell/contract/errors.ts';
import { newRunId, type RunId } from '@hotcell/contract/names.ts';
import { downstreamOf, graphOf } from '@hotcell/contract/workflow-graph.ts';
import type { Workflow, WorkflowEnd } from '@hotcell/contract/workflow.ts';
import { readWorkflowEnd } from '@hotcell/record/workflow-records.ts';
import type { Caller } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import { begin } from './make-workflow.ts';
import { requireWorkflow } from './show-workflow.ts';
import { requireFreeWorkflowSlot } from './workflow-slots.ts';

/** The same steps again, as they were pinned; what is not run again is taken over from the workflow before. */
export async function rerunWorkflow(
  producer: Producer,
  { tenant, key, role }: Caller,
  { id, from }: { id: RunId; from?: string | undefined },
): Promise<Workflow> {
  const before = await requireWorkflow(producer, tenant, id);
  const end = await readWorkflowEnd(producer.store, { tenant, id });
  if (!end) throw new HotcellError('conflict', `Workflow ${id} goes on. Wait for its end, or cancel it.`);
  const again = stepsAgain(before, end, from);
  await requireFreeWorkflowSlot(producer.store, tenant);
  return await begin(producer, {
    ...before,
    ...{ id: newRunId(), at: new Date().toISOString(), author: { key, role }, from: id },
    given: givenBy(end, again),
  });
}

function stepsAgain({ id, steps }: Workflow, end: WorkflowEnd, from: string | undefined): Set<string> {
  const failed = end.steps.filter(({ state }) => state !== 'succeeded').map(({ name }) => name);
  if (from === undefined && failed.length === 0)
    throw new HotcellError(
      'finished_already',
      `Every step of workflow ${id} succeeded. Say with "from" which one to run again.`,
    );
  if (from !== undefined && !Object.hasOwn(steps, from)) {
    const message = `There is no step ${from}. The steps are ${Object.keys(steps).slice(0, 20).join(', ')}.`;
    throw new HotcellError('invalid', message, { issues: [{ path: 'from', message }] });
  }
  const graph = graphOf(steps);
  const roots = from === undefined ? failed : [from, ...failed];
  return new Set(roots.flatMap((name) => [...downstreamOf(graph, name)]));
}

function givenBy(end: WorkflowEnd, again: ReadonlySet<string>): Record<string, RunId> {
  const given: Record<string, RunId> = {};
  for (const { name, tasks } of end.steps)
    for (const task of again.has(name) ? [] : tasks) if (task.run !== null) given[task.name] = task.run;
  return given;
}
