import type { ListedWorkflow, ShownWorkflow } from '@hotcell/contract/api/workflows.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { RunId } from '@hotcell/contract/names.ts';
import { graphOf, needsOf, orderOf } from '@hotcell/contract/workflow-graph.ts';
import type { ShownStep, Workflow } from '@hotcell/contract/workflow.ts';
import { readWorkflow, readWorkflowEnd, readWorkflowProgress } from '@hotcell/record/workflow-records.ts';
import type { z } from 'zod';
import type { Producer } from '../producer.ts';

export async function requireWorkflow(producer: Producer, tenant: string, named: string): Promise<Workflow> {
  const id = RunId.safeParse(named);
  const found = id.success ? await readWorkflow(producer.store, { tenant, id: id.data }) : undefined;
  if (found) return found;
  throw new HotcellError('not_found', `There is no workflow ${named}. GET /v1/workflows lists the workflows.`);
}

export async function showWorkflow({ store }: Producer, workflow: Workflow): Promise<ShownWorkflow> {
  const { id, name, at, author, parallel, from, callback } = workflow;
  const [end, progress] = await Promise.all([readWorkflowEnd(store, workflow), readWorkflowProgress(store, workflow)]);
  const graph = graphOf(workflow.steps);
  const known = new Map((end ?? progress)?.steps.map((step) => [step.name, step]));
  const steps = (orderOf(graph) ?? []).map((step) => ({
    ...(known.get(step) ?? untouched(step)),
    after: needsOf(graph[step] ?? { inputs: {} }),
  }));
  const problem = end ? undefined : progress?.problem;
  return {
    ...{ workflow: id, name, at, outcome: end?.outcome ?? null, reason: end?.reason ?? '', endedAt: end?.at ?? null },
    ...{
      author,
      parallel,
      ...(from && { from }),
      ...(callback !== undefined && { callback }),
      ...(problem !== undefined && { problem }),
      steps,
    },
  };
}

function untouched(name: string): z.infer<typeof ShownStep> {
  return { name, state: 'waiting', reason: 'The producer that leads the workflows begins soon.', tasks: [] };
}

export async function listedWorkflow(
  { store }: Producer,
  tenant: string,
  id: RunId,
): Promise<ListedWorkflow | undefined> {
  const [workflow, end] = await Promise.all([
    readWorkflow(store, { tenant, id }),
    readWorkflowEnd(store, { tenant, id }),
  ]);
  if (!workflow) return undefined;
  const { name, at } = workflow;
  return { workflow: id, name, at, outcome: end?.outcome ?? null, reason: end?.reason ?? '' };
}
