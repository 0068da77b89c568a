import { z } from 'zod';
import { Digest } from '../digest.ts';
import { SnapshotName } from '../names.ts';
import { SnapshotEntry as Entry, snapshotFacts, snapshotLimits, SnapshotMode } from '../snapshot.ts';
import { Issues } from '../result.ts';
import { Problem } from './problem.ts';
import {
  answerObject,
  answerSchema,
  inDigits,
  jsonAnswer,
  jsonBody,
  ndjson,
  octets,
  requestObject,
  requestSchema,
  tagged,
} from './route.ts';

const Files = z
  .array(Entry)
  .max(snapshotLimits.files, `a snapshot holds at most ${snapshotLimits.files} files: freeze parts of the folder`);
const SnapshotEntry = answerSchema('SnapshotEntry', Entry);
const count = z.number().int().min(0);

const UploadRequest = requestObject('UploadRequest', { files: Files });
const Upload = answerObject('Upload', {
  upload: z.uuid(),
  missing: z.array(Digest).describe('what has to be sent before the snapshot'),
});

const SnapshotRequest = requestSchema(
  'SnapshotRequest',
  z.union(
    [
      z.strictObject({ upload: z.uuid(), files: Files, name: SnapshotName.optional() }),
      z.strictObject({
        source: z.string().min(1).max(1024).describe('s3://bucket/prefix, RUN:outputs, a snapshot’s id or its name'),
        name: SnapshotName.optional(),
        mode: SnapshotMode.default('copy'),
      }),
    ],
    { error: 'must be { source, name?, mode? }, or the end of an upload: { upload, files, name? }' },
  ),
);

export const CreatedSnapshot = answerObject('CreatedSnapshot', {
  id: Digest,
  name: SnapshotName.optional(),
  files: count,
  bytes: count,
  locations: Digest,
});
export type CreatedSnapshot = z.infer<typeof CreatedSnapshot>;

export const FreezeProgress = z.strictObject({ files: count, bytes: count, filesDone: count, bytesDone: count });
export type FreezeProgress = z.infer<typeof FreezeProgress>;

export const FreezeEvent = answerSchema(
  'FreezeEvent',
  z.discriminatedUnion('type', [
    FreezeProgress.extend({ type: z.literal('progress') }),
    CreatedSnapshot.extend({ type: z.literal('snapshot') }),
    Problem.extend({ type: z.literal('error') }),
  ]),
);
export type FreezeEvent = z.infer<typeof FreezeEvent>;

export const SnapshotView = answerObject('Snapshot', {
  id: Digest,
  names: z.array(SnapshotName),
  ...snapshotFacts,
});
export type SnapshotView = z.infer<typeof SnapshotView>;

const SnapshotVerdict = answerObject('SnapshotVerdict', {
  id: Digest,
  verified: z.boolean(),
  files: count,
  bytes: count,
  problems: Issues.describe('every file that is missing or is not as it was frozen'),
});
export type SnapshotVerdict = z.infer<typeof SnapshotVerdict>;

const SnapshotComparison = answerObject('SnapshotComparison', {
  before: Digest,
  after: Digest,
  added: z.array(SnapshotEntry),
  removed: z.array(SnapshotEntry),
  changed: z.array(z.strictObject({ path: z.string(), before: SnapshotEntry, after: SnapshotEntry })),
  same: count,
});

const pointing = { snapshot: Digest, at: z.iso.datetime(), by: z.string() };
const SnapshotNames = answerObject('SnapshotNames', {
  names: z.array(
    z.strictObject({
      name: SnapshotName,
      ...pointing,
      history: z
        .array(
          z.strictObject({ ...pointing, number: z.number().int().min(1).describe('NAME@NUMBER names this version') }),
        )
        .describe('oldest first'),
    }),
  ),
});

const SnapshotParams = z.strictObject({
  snapshot: z
    .string()
    .regex(
      /^(sha256:[0-9a-f]{64}|[a-z0-9][a-z0-9._-]{0,127}(?:@(?:\d{1,9}|\{[0-9TZ:.-]{10,24}\}))?|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:outputs)$/,
      'must be an id, a name, NAME@NUMBER, NAME@{DATE} or RUN:outputs',
    )
    .describe('an id, a name, NAME@NUMBER, NAME@{DATE} or RUN:outputs'),
});
const RemovedSnapshot = answerObject('RemovedSnapshot', { id: Digest });
const RemovedName = answerObject('RemovedName', { name: SnapshotName });
const toSnapshot = { Location: 'where the snapshot is' };

const route = tagged('snapshots');

export const snapshotRoutes = {
  beginUpload: route(
    'POST /v1/uploads',
    'submitter',
    'Begin an upload: say what a folder holds, and learn what has to be sent',
    {
      description: 'Beginning again with the same files continues an upload that was interrupted.',
      body: jsonBody(UploadRequest),
      answers: { 201: jsonAnswer('begun', Upload) },
      problems: [422],
    },
  ),
  uploadContent: route('PUT /v1/uploads/{upload}/{sha256}', 'submitter', 'Send one content of an upload', {
    params: z.strictObject({ upload: z.uuid(), sha256: Digest }),
    body: { schema: z.string(), type: octets, parsedBy: 'handler' },
    answers: { 204: { description: 'kept under its digest' } },
    problems: [404, 409, 422],
  }),
  createSnapshot: route('POST /v1/snapshots', 'submitter', 'Freeze a source, or finish an upload', {
    description:
      'With "Accept: application/x-ndjson", a line for each progress, and last the snapshot or the problem; empty lines only keep the connection alive.',
    body: jsonBody(SnapshotRequest),
    answers: {
      200: { description: 'progress, and the snapshot last', content: { [ndjson]: FreezeEvent } },
      201: jsonAnswer('frozen', CreatedSnapshot, toSnapshot),
    },
    problems: [404, 409, 422],
  }),
  listSnapshots: route('GET /v1/snapshots', 'reader', 'List snapshots', {
    query: z.strictObject({
      limit: inDigits(z.number().int().min(1).max(1000)).default(100),
      cursor: Digest.optional().describe('the "next" of the page before'),
    }),
    answers: {
      200: jsonAnswer(
        'a page of snapshots',
        answerObject('SnapshotPage', { snapshots: z.array(SnapshotView), next: Digest.optional() }),
      ),
    },
  }),
  getSnapshot: route('GET /v1/snapshots/{snapshot}', 'reader', 'Show a snapshot and its files', {
    params: SnapshotParams,
    answers: {
      200: jsonAnswer(
        'the snapshot',
        answerSchema('SnapshotDetail', SnapshotView.extend({ entries: z.array(SnapshotEntry) })),
      ),
    },
    problems: [404, 409, 422],
  }),
  removeSnapshot: route('DELETE /v1/snapshots/{snapshot}', 'admin', 'Take a snapshot out of use', {
    description:
      'No list has it and no new run gets it. Runs that were accepted before keep it, and its bytes stay until a collection finds that nothing needs them. Freezing the same content brings it back.',
    params: SnapshotParams,
    answers: { 200: jsonAnswer('removed', RemovedSnapshot) },
    problems: [404, 409, 422],
  }),
  verifySnapshot: route(
    'POST /v1/snapshots/{snapshot}/verify',
    'reader',
    'Read every byte of a snapshot and compare it with its digest',
    {
      params: SnapshotParams,
      answers: { 200: jsonAnswer('what was found', SnapshotVerdict) },
      problems: [404, 409, 422],
    },
  ),
  diffSnapshots: route('GET /v1/snapshots/{snapshot}/diff/{other}', 'reader', 'Compare two snapshots by path', {
    params: SnapshotParams.extend({ other: SnapshotParams.shape.snapshot }),
    answers: { 200: jsonAnswer('what differs', SnapshotComparison) },
    problems: [404, 409, 422],
  }),
  listSnapshotNames: route(
    'GET /v1/snapshot-names',
    'reader',
    'List the names of snapshots, with what each pointed to before',
    {
      answers: { 200: jsonAnswer('the names', SnapshotNames) },
    },
  ),
  removeSnapshotName: route('DELETE /v1/snapshot-names/{name}', 'admin', 'Take a name of snapshots out of use', {
    description: 'Its snapshots stay. Publishing under the name brings it back, with its history.',
    params: z.strictObject({ name: SnapshotName }),
    answers: { 200: jsonAnswer('removed', RemovedName) },
    problems: [404],
  }),
};
