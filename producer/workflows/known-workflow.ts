import { derivedRunId } from '@hotcell/contract/derived-run-id.ts';
import { type RunId, timeOf } from '@hotcell/contract/names.ts';
import type { TaskFacts, WorkflowStanding } from '@hotcell/contract/workflow-decide.ts';
import { graphOf, orderOf } from '@hotcell/contract/workflow-graph.ts';
import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import type { Json } from '@hotcell/contract/spec.ts';
import type { Workflow } from '@hotcell/contract/workflow.ts';
import type { z } from 'zod';
import type { PartitionItem, StepPartitions } from './step-partitions.ts';

/** What a task is for: a value, a file of a snapshot, or all files of a partition. */
export type FanItem = { value: z.infer<typeof Json> } | SnapshotEntry | PartitionItem;

type Graphs = Pick<WorkflowStanding, 'graph' | 'order' | 'parallel'>;

/**
 * An open workflow as its leader knows it. It holds no large code: that is read again for each task that starts.
 * All of it follows from the record, so a new leader comes to the same.
 */
export interface KnownWorkflow
  extends Pick<Workflow, 'tenant' | 'id' | 'name' | 'author' | 'policies' | 'given' | 'callback'>,
    Graphs {
  tasks: Map<string, TaskFacts>;
  /** The files that a step fans out over. */
  files: Map<string, readonly SnapshotEntry[]>;
  /** The partitions that a step fans out over: their files are read again for each task. */
  partitions: Map<string, StepPartitions>;
  fans: Map<string, number | { refused: string }>;
  conditions: Map<string, { holds: boolean; because: string }>;
  cancelled: string | undefined;
  /** A small definition is kept, so that the next step of a chain need not wait for it. */
  steps: Workflow['steps'] | undefined;
  /** This leader has seen how everything stood: what can begin later has not begun. */
  surveyed: boolean;
  /** When the record was last asked for a cancel. */
  cancelReadAt: number;
  /** The outputs of all tasks of a step, as one snapshot. */
  merged: Map<string, Promise<string>>;
  /** Runs that were asked to end. */
  ending: Set<string>;
  /** Why a task can't be started at the moment. */
  problem: string | undefined;
  heldUntil: number;
  /** What was last written down for those who look. */
  shown: { at: number; steps: string };
}

const keptBytes = 16 * 1024;

export function knowWorkflow(workflow: Workflow): KnownWorkflow {
  const { tenant, id, name, author, policies, given, callback, parallel, steps } = workflow;
  const graph = graphOf(steps);
  const isSmall = JSON.stringify(steps).length <= keptBytes;
  return {
    ...{ tenant, id, name, author, policies, given, callback, parallel, graph, order: orderOf(graph) ?? [] },
    ...{
      tasks: new Map(),
      files: new Map(),
      partitions: new Map(),
      fans: new Map(),
      conditions: new Map(),
      merged: new Map(),
      ending: new Set(),
    },
    ...{ steps: isSmall ? steps : undefined, surveyed: false, cancelReadAt: 0 },
    ...{ cancelled: undefined, problem: undefined, heldUntil: 0, shown: { at: 0, steps: '' } },
  };
}

/** The run of a task has the time of its workflow, so that every leader finds it in the same place. */
export function taskRunId(id: RunId, task: string): RunId {
  return derivedRunId(`workflow/${id}/${task}`, timeOf(id).getTime());
}
