import { z } from 'zod';
import { Digest } from '../digest.ts';
import { RunId } from '../names.ts';
import { StepRequest, StepResult } from '../session/step.ts';
import { SessionRequest } from '../spec.ts';
import { ShownRow } from './events.ts';
import { answerObject, inDigits, jsonAnswer, jsonBody, ndjson, octets, requestSchema, tagged } from './route.ts';
import { AcceptedRun, IdempotencyKey, prefer, RunParams, RunView } from './runs.ts';

const {
  outcome,
  exitCode,
  saidBy,
  startedAt,
  finishedAt,
  reason,
  signal,
  error,
  interpreter,
  usage,
  outputs,
  refused,
} = StepResult.shape;

/** A step as the API shows it: how far it is and, when it is over, what came of it. */
export const StepView = answerObject('Step', {
  run: RunId,
  index: z.number().int().min(0),
  status: z.enum(['queued', 'running', 'finished']),
  step: Digest.describe('of the record that asks for it'),
  code: Digest,
  language: z.string().nullable(),
  at: z.iso.datetime().describe('when it was recorded'),
  outcome: outcome.describe('null: it has not ended, or never ran'),
  reason,
  exitCode,
  signal,
  saidBy,
  startedAt,
  finishedAt,
  error,
  interpreter,
  warnings: z.array(z.string()).optional().describe('what screening says of its code'),
  usage: usage.optional(),
  outputs,
  refused,
  stdout: z.string().optional().describe('its head and its tail, if it is long'),
  stderr: z.string().optional(),
  truncated: z.boolean().optional().describe('something of stdout or stderr is left out; the log of the step has it'),
});
export type StepView = z.infer<typeof StepView>;

const number = inDigits(z.number().int().min(0)).describe('the number of the step, from 0');
const StepParams = z.strictObject({ ...RunParams.shape, step: number });

const waited = { 'Preference-Applied': 'the wait that was granted' };
const route = tagged('sessions');

export const sessionRoutes = {
  startSession: route('POST /v1/sessions', 'reader', 'Start a session: a run whose cell stays open for steps', {
    // Admission judges the role: a refusal of a known caller has a record.
    judged: 'submitter',
    headers: z.object({ 'idempotency-key': IdempotencyKey.optional() }),
    body: { ...jsonBody(requestSchema('SessionRequest', SessionRequest)), parsedBy: 'handler' },
    answers: { 202: jsonAnswer('accepted: steps can be sent at once', AcceptedRun, { Location: 'where the run is' }) },
    problems: [409, 422],
  }),
  addStep: route('POST /v1/runs/{run}/steps', 'submitter', 'Run a step in a session', {
    description:
      'The step is in the record before it is executed. Steps run one at a time, in the order in which they were recorded.',
    params: RunParams,
    headers: z.object({ prefer, 'idempotency-key': IdempotencyKey.optional() }),
    body: jsonBody(requestSchema('StepRequest', StepRequest)),
    answers: {
      200: jsonAnswer('over within the wait asked for', StepView, waited),
      202: jsonAnswer('recorded', StepView, { ...waited, Location: 'where the step is' }),
    },
    problems: [404, 409, 422],
  }),
  getStep: route('GET /v1/runs/{run}/steps/{step}', 'reader', 'Show a step of a session', {
    params: StepParams,
    headers: z.object({ prefer }),
    answers: { 200: jsonAnswer('the step', StepView, waited) },
    problems: [404],
  }),
  readStepLog: route('GET /v1/runs/{run}/steps/{step}/logs', 'reader', 'Read what a finished step wrote', {
    params: StepParams,
    answers: { 200: { description: 'its rows', content: { [ndjson]: ShownRow } } },
    problems: [404, 409],
  }),
  getStepOutput: route('GET /v1/runs/{run}/steps/{step}/outputs/{output}', 'reader', 'Download what a step showed', {
    params: StepParams.extend({ output: inDigits(z.number().int().min(0)).describe('its place in "outputs"') }),
    answers: {
      200: {
        description: 'the bytes',
        content: { [octets]: z.string() },
        headers: { 'Content-Disposition': 'always an attachment: a job wrote it', ETag: 'its sha256 digest' },
      },
    },
    problems: [404, 409],
  }),
  interruptStep: route('POST /v1/runs/{run}/steps/{step}/interrupt', 'submitter', 'Interrupt a step that runs', {
    description: 'Its program gets SIGINT: a KeyboardInterrupt in Python. The session goes on.',
    params: StepParams,
    answers: { 202: jsonAnswer('asked for', StepView) },
    problems: [404, 409],
  }),
  finishSession: route('POST /v1/runs/{run}/finish', 'submitter', 'Finish a session after the steps before', {
    params: RunParams,
    headers: z.object({ prefer }),
    answers: { 200: jsonAnswer('the run', RunView, waited) },
    problems: [404, 409],
  }),
};
