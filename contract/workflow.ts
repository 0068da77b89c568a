import { z } from 'zod';
import { Role } from './apikey.ts';
import { Digest } from './digest.ts';
import { RunId, TenantName } from './names.ts';
import { PartitionKey } from './partitions.ts';
import { Outcome } from './outcomes.ts';
import { Json, RunRequest } from './spec.ts';
import { Callback } from './webhook.ts';

const time = z.iso.datetime();

export const WorkflowName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9, ., _ and -, beginning with a letter or digit');
export const StepName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,47}$/, 'must be 1 to 48 of a-z, 0-9, _ and -, beginning with a letter or digit');

export const workflowLimits = {
  steps: 200,
  /** What a step fans out to. */
  items: 1_000,
  /** Of a snapshot that a step takes in partitions: it is read again for each. */
  partitionFiles: 10_000,
  /** All tasks of a workflow. */
  tasks: 10_000,
  parallel: 100,
  conditions: 16,
  /** Of an output that a condition reads. */
  conditionBytes: 65_536,
  /** The whole definition as JSON: a producer reads it whenever it starts a task. */
  bytes: 1024 * 1024,
  /** Names, needs, conditions and sources of inputs as JSON: the leader holds them as long as the workflow goes on. */
  graphBytes: 128 * 1024,
  /** Workflows of a tenant that have not ended. */
  open: 100,
} as const;

/** What must hold for a step to begin: how another step ended, or what stands in a small JSON output of it. */
export const Condition = z.union(
  [
    z.strictObject({
      step: StepName,
      outcome: z.union([Outcome, z.array(Outcome).min(1)]).describe('how the run of that step ended'),
    }),
    z.strictObject({
      step: StepName,
      output: z.string().min(1).max(255).describe('the path of a JSON file among its outputs, at most 64 KiB'),
      field: z.string().min(1).max(255).optional().describe('a field in it, like "counts.errors"; default: all of it'),
      is: z.union([z.string(), z.number(), z.boolean(), z.null()]),
    }),
  ],
  { error: 'must be { step, outcome } or { step, output, field?, is }' },
);
export type Condition = z.infer<typeof Condition>;

/** What a step fans out over: one task for each. */
const Over = z.union(
  [
    z.strictObject({ items: z.array(Json).min(1).max(workflowLimits.items) }),
    z.strictObject({
      files: z
        .string()
        .min(1)
        .max(1024)
        .describe('a snapshot, a name, RUN:outputs or step:NAME: one task for each file'),
    }),
    z.strictObject({
      partitions: z
        .string()
        .min(1)
        .max(1024)
        .describe('a snapshot, a name, RUN:outputs or step:NAME: one task for each value of a key'),
      by: PartitionKey,
    }),
  ],
  { error: 'must be { items: [...] }, { files: SOURCE } or { partitions: SOURCE, by: KEY }' },
);

/** Everything about a step but the run itself. */
export const stepRules = {
  needs: z.array(StepName).max(workflowLimits.steps).optional().describe('steps that must have succeeded before'),
  onFailedNeed: z
    .enum(['skip', 'fail', 'run'])
    .optional()
    .describe('when a need did not succeed: leave this step out (default), let it fail, or run it anyway'),
  when: z
    .array(Condition)
    .min(1)
    .max(workflowLimits.conditions)
    .optional()
    .describe('all must hold, or it is left out'),
  over: Over.optional().describe(
    'one task for each item, with params.item, or each file or partition, as the input "item"',
  ),
  reuse: z
    .boolean()
    .optional()
    .describe('take the outputs of an earlier run of exactly the same spec, if one succeeded'),
};

export const WorkflowStep = z.strictObject({
  ...stepRules,
  run: RunRequest.describe('its inputs may name the outputs of another step as step:NAME'),
});
export type WorkflowStep = z.infer<typeof WorkflowStep>;

export const Parallel = z.number().int().min(1).max(workflowLimits.parallel);

/** A workflow as it was accepted. It never changes: its state follows from it and from the runs of its tasks. */
export const Workflow = z.strictObject({
  version: z.literal(1),
  tenant: TenantName,
  /** Made like the id of a run. */
  id: RunId,
  name: WorkflowName,
  at: time,
  /** Its runs have the rights of this key. */
  author: z.strictObject({ key: z.string(), role: Role }),
  parallel: Parallel,
  steps: z.record(StepName, WorkflowStep),
  /** What each step is judged by, as it stood when the workflow was made. */
  policies: z.record(StepName, Digest),
  /** Tasks of an earlier workflow that this one takes over instead of running them, by name. */
  given: z.record(z.string(), RunId),
  from: RunId.optional(),
  callback: Callback.optional(),
});
export type Workflow = z.infer<typeof Workflow>;

/** What became of a task that has no run of its own under its own id. */
export const TaskRecord = z.strictObject({
  version: z.literal(1),
  tenant: TenantName,
  workflow: RunId,
  task: z.string(),
  /** `reused`: an earlier run stands for it. `refused`: its request could not become a run. */
  state: z.enum(['reused', 'refused']),
  run: RunId.nullable(),
  reason: z.string(),
  at: time,
});
export type TaskRecord = z.infer<typeof TaskRecord>;

export const WorkflowOutcome = z.enum(['succeeded', 'failed', 'cancelled']);
export type WorkflowOutcome = z.infer<typeof WorkflowOutcome>;

export const WorkflowCancel = z.strictObject({ version: z.literal(1), by: z.string(), reason: z.string(), at: time });
export type WorkflowCancel = z.infer<typeof WorkflowCancel>;

export const StepState = z.enum(['waiting', 'running', 'succeeded', 'failed', 'skipped', 'cancelled']);
export type StepState = z.infer<typeof StepState>;

export const TaskState = z.enum(['waiting', 'running', 'succeeded', 'reused', 'failed', 'refused', 'cancelled']);
export type TaskState = z.infer<typeof TaskState>;

export const ShownStep = z.strictObject({
  name: StepName,
  state: StepState,
  reason: z.string(),
  tasks: z.array(z.strictObject({ name: z.string(), state: TaskState, run: RunId.nullable() })),
});

/** How it stood when its leader last looked: nothing depends on it. */
export const WorkflowProgress = z.strictObject({
  version: z.literal(1),
  tenant: TenantName,
  workflow: RunId,
  at: time,
  /** Why it can't go on at the moment. */
  problem: z.string().optional(),
  steps: z.array(ShownStep),
});
export type WorkflowProgress = z.infer<typeof WorkflowProgress>;

/** How a workflow ended: put once, when no task of it goes on. */
export const WorkflowEnd = z.strictObject({
  version: z.literal(1),
  tenant: TenantName,
  workflow: RunId,
  outcome: WorkflowOutcome,
  reason: z.string(),
  at: time,
  steps: z.array(ShownStep),
});
export type WorkflowEnd = z.infer<typeof WorkflowEnd>;
