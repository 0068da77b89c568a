import { z } from 'zod';
import { Digest } from '../digest.ts';
import { Receipt as SignedReceipt } from '../evidence/receipt.ts';
import { RunId, TenantName } from '../names.ts';
import { Outcome } from '../outcomes.ts';
import { Result as RunResult, RunStatus } from '../result.ts';
import { Json, Labels, RunRequest as SubmittedRun, Spec } from '../spec.ts';
import {
  answerObject,
  answerSchema,
  inDigits,
  jsonAnswer,
  jsonBody,
  requestObject,
  requestSchema,
  tagged,
} from './route.ts';

const Receipt = answerSchema('Receipt', SignedReceipt);
/** A result as the API gives it. */
export const ShownResult = answerSchema(
  'Result',
  RunResult.extend({
    stdout: z.string().optional().describe('what the blocks wrote there: its head and its tail, if it is long'),
    stderr: z.string().optional().describe('the same of stderr'),
    truncated: z.boolean().optional().describe('something of stdout or stderr is left out; the log has it'),
  }),
);
export type ShownResult = z.infer<typeof ShownResult>;
// Refers to itself, which only a schema with a name can.
requestSchema('JsonValue', Json);
answerSchema('JsonAnswer', Json);

/** Why a run is not further, and how many are before it. */
export const Waiting = answerObject('Waiting', {
  code: z.string(),
  message: z.string(),
  position: z.number().int().min(0).nullable(),
});
export type Waiting = z.infer<typeof Waiting>;

/** A run that has no result yet: what its spec says, and how far it is. */
const UnfinishedRun = answerObject('UnfinishedRun', {
  run: RunId,
  tenant: TenantName,
  status: RunStatus.exclude(['finished']),
  waiting: Waiting.optional(),
  acceptedAt: z.iso.datetime(),
  spec: Digest,
  ...RunResult.pick({
    policy: true,
    image: true,
    runtime: true,
    inputs: true,
    labels: true,
    requester: true,
    warnings: true,
  }).shape,
});

/** What the API and `show` say of a run. */
export const RunView = answerSchema('RunView', z.discriminatedUnion('status', [ShownResult, UnfinishedRun]));
export type RunView = z.infer<typeof RunView>;

export function isFinished(view: RunView): view is ShownResult {
  return view.status === 'finished';
}

export const AcceptedRun = answerObject('AcceptedRun', {
  run: RunId,
  status: z.literal('queued'),
  warnings: z.array(z.string()).optional().describe('what in the code will not work in a cell, as far as it shows'),
  receipt: Receipt.optional().describe('the signed promise that this run was accepted: keep it'),
});

/** A run as lists show it: never what it was given or what came out. */
export const RunRow = z.strictObject({
  run: RunId,
  tenant: TenantName,
  name: z.string().nullable().describe('its label "name", else the file of its first block'),
  status: RunStatus,
  outcome: Outcome.nullable(),
  reason: z.string(),
  exitCode: z.number().int().nullable(),
  policy: z.string().nullable(),
  queue: z.string().nullable().describe('where it waits, until it is finished'),
  requester: z.string(),
  labels: Labels,
  inputs: z.array(z.string()).describe('the names of its inputs'),
  acceptedAt: z.string(),
  finishedAt: z.string().nullable(),
});
export type RunRow = z.infer<typeof RunRow>;

export const ListedRun = answerSchema('ListedRun', RunRow.extend({ waiting: Waiting.optional() }));
export type ListedRun = z.infer<typeof ListedRun>;

const RunPage = answerObject('RunPage', {
  runs: z.array(ListedRun),
  next: RunId.nullable(),
  incomplete: z.string().optional().describe('what the page may be missing while the lists catch up with the record'),
});

const label = z
  .string()
  .min(1)
  .transform((text): [string, string] => {
    const at = text.indexOf('=');
    return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
  });

export const RunParams = z.strictObject({ run: z.string().describe('the id of a run') });
const RerunRequest = requestObject('RerunRequest', {
  latestInputs: z.boolean().optional(),
  inputs: SubmittedRun.shape.inputs,
  params: z.record(z.string(), Json).optional(),
  exactly: z
    .boolean()
    .optional()
    .describe('under the very policy, image and snapshots of then, or not at all; it publishes nothing'),
});
export type RerunRequest = z.infer<typeof RerunRequest>;

const bulk = ['posture', 'stdout', 'stderr'] as const;
const include = z
  .string()
  .regex(
    /^(?:(?:posture|stdout|stderr)(?:,(?:posture|stdout|stderr)){0,2})?$/,
    `must be one or more of ${bulk.join(', ')}, separated by commas`,
  )
  .transform((text) => bulk.filter((name) => text.split(',').includes(name)))
  .optional()
  .describe(
    'what is left out unless it is asked for, separated by commas: "posture", the isolation that the cell really had; "stdout" and "stderr", which an answer to a wait has in any case',
  );
export type Include = (typeof bulk)[number];

export const prefer = z
  .string()
  .optional()
  .describe('"wait=SECONDS", at most 600: answer when the run is finished, or after that time with what is known');
/** A header carries it. */
export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters without spaces');
/** Of a request that makes something. */
export const idempotencyHeader = (what: string) =>
  z.object({
    'idempotency-key': IdempotencyKey.optional().describe(
      `the same key and the same request again give the same ${what}`,
    ),
  });
const waited = { 'Preference-Applied': 'the wait that was granted' };
const toRun = { Location: 'where the run is' };

const route = tagged('runs');

export const runRoutes = {
  submitRun: route('POST /v1/runs', 'reader', 'Submit a run', {
    judged: 'submitter',
    headers: z.object({
      prefer,
      ...idempotencyHeader('run').shape,
    }),
    query: z.strictObject({ include }),
    // Admission reads it, and says of words that other systems use what to write here instead.
    body: { ...jsonBody(requestSchema('RunRequest', SubmittedRun)), parsedBy: 'handler' },
    answers: {
      200: jsonAnswer('finished within the wait asked for', ShownResult, { ...toRun, ...waited }),
      202: jsonAnswer('accepted', z.union([AcceptedRun, RunView]), { ...toRun, ...waited }),
    },
    problems: [409, 422],
  }),
  listRuns: route('GET /v1/runs', 'reader', 'List runs, newest first', {
    query: z.strictObject({
      status: z.enum([...RunStatus.options, ...Outcome.options], 'must be a status or an outcome').optional(),
      label: z
        .preprocess(
          (value) => (typeof value === 'string' ? [value] : value),
          z.array(label).max(32, 'at most 32 labels'),
        )
        .optional()
        .describe('NAME=VALUE; give it several times for runs that have them all'),
      since: z.iso.datetime({ offset: true }).optional().describe('accepted at or after this time'),
      limit: inDigits(z.number().int().min(1).max(500)).default(50),
      cursor: RunId.optional().describe('the "next" of the page before'),
    }),
    answers: {
      200: jsonAnswer('a page of runs', RunPage),
    },
  }),
  getRun: route('GET /v1/runs/{run}', 'reader', 'Show a run: its result, or how far it is', {
    params: RunParams,
    query: z.strictObject({ include }),
    headers: z.object({ prefer }),
    answers: { 200: jsonAnswer('the run', RunView, waited) },
    problems: [404],
  }),
  getSpec: route('GET /v1/runs/{run}/spec', 'reader', 'Show what a run was asked to do', {
    description:
      'Code, files, params, environment, limits, and the digests of policy, image and inputs. The sha256 of its canonical JSON is the `spec` of the run.',
    params: RunParams,
    answers: { 200: jsonAnswer('the spec', answerSchema('Spec', Spec)) },
    problems: [404, 410],
  }),
  cancelRun: route('POST /v1/runs/{run}/cancel', 'submitter', 'Cancel a run, at whatever stage it is', {
    params: RunParams,
    body: {
      ...jsonBody(requestObject('CancelRequest', { reason: z.string().max(1000).optional() })),
      optional: true,
    },
    answers: { 200: jsonAnswer('the run', RunView) },
    problems: [404, 409],
  }),
  rerunRun: route('POST /v1/runs/{run}/rerun', 'submitter', 'Submit the same request again', {
    description:
      'On the same inputs, or with latestInputs on the snapshots that their names point to now. `inputs` and `params` replace those of the same name.',
    params: RunParams,
    body: {
      ...jsonBody(RerunRequest),
      optional: true,
    },
    answers: { 202: jsonAnswer('accepted', AcceptedRun, toRun) },
    problems: [404, 410, 422],
  }),
};
