import { z } from 'zod';
import { BatchCounts, BatchOver, BatchRules, ItemEnd } from '../batch.ts';
import { Digest } from '../digest.ts';
import { EvidenceBundle } from '../evidence/evidence-bundle.ts';
import { PolicyName, RunId, SnapshotName } from '../names.ts';
import { RunRequest } from '../spec.ts';
import { Callback } from '../webhook.ts';
import {
  answerObject,
  answerSchema,
  inDigits,
  jsonAnswer,
  jsonBody,
  ndjson,
  requestObject,
  requestSchema,
  tagged,
} from './route.ts';
import { idempotencyHeader } from './runs.ts';

const time = z.iso.datetime();

export const BatchRequest = z.strictObject({
  name: z.string().min(1).max(256).optional().describe('what to call it in lists'),
  over: BatchOver.describe('what there is an item for; each gets a run'),
  ...BatchRules.partial().shape,
  callback: Callback.optional(),
  run: z.unknown().describe('the run of each item: a RunRequest'),
});
export type BatchRequest = z.infer<typeof BatchRequest>;

const Problem = z.strictObject({ code: z.string(), message: z.string() });

const Batch = answerObject('Batch', {
  batch: RunId,
  name: z.string().nullable(),
  state: z.enum(['listing', 'running', 'succeeded', 'failed', 'cancelled']),
  reason: z.string().describe('what it does, or how it ended'),
  items: z.number().int().nullable().describe('null: they are being counted'),
  counts: BatchCounts,
  running: z.number().int().describe('runs that are accepted and have not ended'),
  waiting: z.number().int().describe('items that have no run yet'),
  ratePerSecond: z.number().nullable().describe('items that ended in a second, over the last minute'),
  estimate: time.nullable().describe('when it will have ended, if it goes on like this'),
  problem: Problem.optional().describe('why no more items begin at the moment'),
  rules: BatchRules,
  callback: z.string().optional().describe('who is told when it has ended'),
  round: z.number().int().describe('0, and one more for each rerun'),
  author: z.strictObject({ key: z.string(), role: z.string() }),
  policy: z.strictObject({ name: PolicyName, digest: Digest }),
  image: z.strictObject({ ref: z.string(), digest: Digest }),
  over: Digest.nullable().describe('the snapshot that it is over'),
  createdAt: time,
  endedAt: time.nullable(),
  cancelled: z.strictObject({ at: time, by: z.string(), reason: z.string() }).optional(),
  manifest: z.strictObject({ sha256: Digest, bytes: z.number().int() }).optional(),
  evidence: z.strictObject({ sha256: Digest }).optional(),
  published: z
    .strictObject({ name: SnapshotName, snapshot: Digest.optional(), problem: z.string().optional() })
    .optional(),
});
export type Batch = z.infer<typeof Batch>;

const BatchItemView = answerObject('BatchItem', {
  ...ItemEnd.shape,
  state: z.enum(['waiting', 'running', 'ended', 'skipped']),
});
export type BatchItemView = z.infer<typeof BatchItemView>;

const params = z.strictObject({ batch: z.string() });
const route = tagged('batches');
const answer = { 200: jsonAnswer('the batch', Batch) };

export const batchRoutes = {
  createBatch: route('POST /v1/batches', 'submitter', 'Run one request over many items', {
    description:
      'Each item gets a run of its own, with the rights of the key that makes the batch and the label `batch`. Code, policy, image and what the batch is over are pinned now. Items begin as the rules and quotas of the tenant let them.',
    body: {
      ...jsonBody(requestSchema('BatchRequest', BatchRequest.extend({ run: RunRequest }))),
      parsedBy: 'handler',
    },
    headers: idempotencyHeader('batch'),
    answers: { 201: jsonAnswer('the batch', Batch) },
    problems: [409, 422],
  }),
  listBatches: route('GET /v1/batches', 'reader', 'List batches, the newest first', {
    query: z.strictObject({
      limit: inDigits(z.number().int().min(1).max(100)).default(20),
      cursor: RunId.optional().describe('the "next" of the page before'),
    }),
    answers: {
      200: jsonAnswer(
        'a page of batches',
        answerObject('BatchPage', { batches: z.array(Batch), next: z.string().nullable() }),
      ),
    },
  }),
  getBatch: route('GET /v1/batches/{batch}', 'reader', 'Show how far a batch is', {
    params,
    answers: answer,
    problems: [404],
  }),
  listBatchItems: route('GET /v1/batches/{batch}/items', 'reader', 'List the items of a batch and their runs', {
    params,
    query: z.strictObject({
      unsuccessful: z.enum(['true', 'false']).optional().describe('only those that ended without success'),
      cursor: z
        .string()
        .regex(/^\d{1,6}$/, 'must be the "next" of the page before')
        .optional()
        .describe('the "next" of the page before'),
    }),
    answers: {
      200: jsonAnswer(
        'a page of items',
        answerObject('BatchItemPage', { items: z.array(BatchItemView), next: z.string().nullable() }),
      ),
    },
    problems: [404],
  }),
  cancelBatch: route('POST /v1/batches/{batch}/cancel', 'submitter', 'Cancel a batch and all of its runs', {
    params,
    body: {
      ...jsonBody(requestObject('CancelBatchRequest', { reason: z.string().max(1000).optional() })),
      optional: true,
    },
    answers: { 202: jsonAnswer('it is being cancelled', Batch) },
    problems: [404, 409],
  }),
  rerunBatch: route('POST /v1/batches/{batch}/rerun', 'submitter', 'Run the items again that have not succeeded', {
    description: 'With the rights of the key that asks, and with the code, policy and image that were pinned.',
    params,
    answers: { 202: jsonAnswer('it goes on', Batch) },
    problems: [404, 409],
  }),
  getBatchManifest: route('GET /v1/batches/{batch}/manifest', 'reader', 'Get the results of all items', {
    description: 'A line of JSON for each item, in their order. Its sha256 is `manifest.sha256`.',
    params,
    answers: { 200: { description: 'the manifest', content: { [ndjson]: answerSchema('BatchItemEnd', ItemEnd) } } },
    problems: [404, 409],
  }),
  getBatchEvidence: route('GET /v1/batches/{batch}/evidence', 'reader', 'Show the signed statement over the manifest', {
    params,
    answers: { 200: jsonAnswer('the bundle', EvidenceBundle) },
    problems: [404, 409],
  }),
};
