import { z } from 'zod';
import { RunId } from '../names.ts';
import { RunRequest } from '../spec.ts';
import { Callback } from '../webhook.ts';
import {
  Parallel,
  ShownStep,
  StepName,
  stepRules,
  Workflow,
  workflowLimits,
  WorkflowName,
  WorkflowOutcome,
} from '../workflow.ts';
import { answerObject, inDigits, jsonAnswer, jsonBody, requestSchema, tagged } from './route.ts';
import { idempotencyHeader } from './runs.ts';

const time = z.iso.datetime();

const stepsOf = <R extends z.ZodType>(run: R) =>
  z
    .record(StepName, z.strictObject({ ...stepRules, run }))
    .refine((steps) => Object.keys(steps).length >= 1, { message: 'must have at least one step' })
    .refine((steps) => Object.keys(steps).length <= workflowLimits.steps, {
      message: `must have at most ${workflowLimits.steps} steps`,
    })
    .describe('by name; each begins when all steps that it names have ended');

const workflowBody = {
  name: WorkflowName,
  parallel: Parallel.optional().describe('how many of its runs may go on at once (default: 16)'),
  callback: Callback.optional(),
};
/** The server reads the requests of the runs by itself, to say what is wrong with them. */
export const WorkflowRequest = z.strictObject({ ...workflowBody, steps: stepsOf(z.unknown()) });
export type WorkflowRequest = z.infer<typeof WorkflowRequest>;

const listed = {
  workflow: RunId,
  name: WorkflowName,
  at: time,
  outcome: WorkflowOutcome.nullable().describe('null: it goes on'),
  reason: z.string(),
};
const ListedWorkflow = answerObject('ListedWorkflow', listed);
export type ListedWorkflow = z.infer<typeof ListedWorkflow>;

const ShownWorkflow = answerObject('Workflow', {
  ...listed,
  endedAt: time.nullable(),
  author: Workflow.shape.author,
  parallel: Parallel,
  from: RunId.optional().describe('the workflow of which this is a rerun'),
  callback: z.string().optional().describe('who is told when it has ended'),
  problem: z.string().optional().describe('why it can not go on at the moment'),
  steps: z.array(
    z.strictObject({
      ...ShownStep.shape,
      after: z.array(StepName).describe('the steps that it comes after'),
    }),
  ),
});
export type ShownWorkflow = z.infer<typeof ShownWorkflow>;

const params = z.strictObject({ workflow: z.string() });
const route = tagged('workflows');
const shown = jsonAnswer('the workflow', ShownWorkflow);
const Reason = z.strictObject({ reason: z.string().max(1000).optional() });

export const workflowRoutes = {
  createWorkflow: route('POST /v1/workflows', 'submitter', 'Begin a workflow: runs that follow each other', {
    description:
      'Its runs have the rights of the key that begins it. Code, policies, images and inputs are pinned now; `step:NAME` as the source of an input stands for the outputs of another step.',
    body: {
      ...jsonBody(requestSchema('WorkflowRequest', z.strictObject({ ...workflowBody, steps: stepsOf(RunRequest) }))),
      parsedBy: 'handler',
    },
    headers: idempotencyHeader('workflow'),
    answers: { 201: shown },
    problems: [409, 422],
  }),
  listWorkflows: route('GET /v1/workflows', 'reader', 'List workflows, newest first', {
    query: z.strictObject({
      limit: inDigits(z.number().int().min(1).max(500)).default(50),
      cursor: RunId.optional().describe('the "next" of the page before'),
    }),
    answers: {
      200: jsonAnswer(
        'a page of workflows',
        answerObject('WorkflowPage', { workflows: z.array(ListedWorkflow), next: RunId.nullable() }),
      ),
    },
  }),
  getWorkflow: route('GET /v1/workflows/{workflow}', 'reader', 'Show a workflow and how its steps stand', {
    params,
    answers: { 200: shown },
    problems: [404],
  }),
  cancelWorkflow: route('POST /v1/workflows/{workflow}/cancel', 'submitter', 'Cancel a workflow and its runs', {
    params,
    body: { ...jsonBody(requestSchema('WorkflowCancelRequest', Reason)), optional: true },
    answers: { 200: shown },
    problems: [404, 409],
  }),
  rerunWorkflow: route('POST /v1/workflows/{workflow}/rerun', 'submitter', 'Run a workflow again, or a part of it', {
    description:
      'A new workflow of the same steps. With `from`, the runs of all steps that do not come after that one stand for those of the new workflow. Without, those of all steps that succeeded do.',
    params,
    body: {
      ...jsonBody(
        requestSchema(
          'WorkflowRerunRequest',
          z.strictObject({ from: StepName.optional().describe('run this step again, and all that come after it') }),
        ),
      ),
      optional: true,
    },
    answers: { 201: shown },
    problems: [404, 409, 422],
  }),
};
