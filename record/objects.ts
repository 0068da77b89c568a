import { DiskSamples } from '@hotcell/contract/disk-growth.ts';
import { EvidenceBundle } from '@hotcell/contract/evidence/evidence-bundle.ts';
import { Envelope } from '@hotcell/contract/evidence/dsse.ts';
import { SignedKeyList } from '@hotcell/contract/evidence/key-list.ts';
import { BatchChunk, BatchEnds, BatchHead, BatchProgress } from '@hotcell/contract/batch.ts';
import { CancelMark } from '@hotcell/contract/heartbeats.ts';
import { Policy, PolicyRevocation } from '@hotcell/contract/policy.ts';
import { PostureForm } from '@hotcell/contract/posture.ts';
import { Result } from '@hotcell/contract/result.ts';
import { ScheduleHead, ScheduleVersion, TickRecord } from '@hotcell/contract/schedule.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import { TaskRecord, Workflow, WorkflowCancel, WorkflowEnd, WorkflowProgress } from '@hotcell/contract/workflow.ts';
import { z } from 'zod';
import { recordKeys, workKeys } from './layout.ts';
import {
  ApiKeyRecord,
  AttemptRecord,
  Claim,
  DoneMarker,
  FreezeLease,
  IdempotencyMark,
  OpenBatchMark,
  OpenMarker,
  OpenWorkflowMark,
  QuotaRecord,
  ReusableRun,
  SnapshotNameRecord,
  SnapshotRecord,
  SweepMark,
  TenantRecord,
} from './schemas.ts';

/** The operator is the command line and the set-up, with the store's own administrator keys. */
type Writer = 'producer' | 'worker' | 'operator';

/**
 * Under which condition an object is put. `first`: if absent, so that the first one stays. `swap`: over exactly the
 * version that was read. `digest`: its name is the digest of its bytes, so that every writer puts the same. `latest`:
 * the last one stays.
 */
export type Condition = 'first' | 'swap' | 'digest' | 'latest';

/**
 * How long an object is kept. `referenced`: until the collector finds that nothing points to it. `sequenced`: until the
 * notary has its run. `held`: until its writer, or the collector in its place, lets go of it. `refusals90`: forever, but
 * for 90 days if the run was refused before it was accepted.
 */
type Kept = 'forever' | 'refusals90' | 'referenced' | 'sequenced' | 'week' | 'held';

export interface Kind<
  At extends readonly unknown[] = readonly never[],
  S extends z.ZodType = z.ZodType,
  C extends Condition = Condition,
> {
  bucket: 'record' | 'work';
  put: C;
  writers: readonly Writer[];
  kept: Kept;
  /** Whether the retention of a run's policy locks it, in the put that writes it: what a run was, did and made. */
  locks: boolean;
  /** The key, with names in the place of what varies. */
  at: string;
  key: (...at: At) => string;
  schema: S;
}

/** Bytes that are not one JSON value. */
const Bytes = z.never();

const kindIn =
  (bucket: Kind['bucket']) =>
  <At extends readonly unknown[], S extends z.ZodType, C extends Condition>(
    at: string,
    key: (...at: At) => string,
    schema: S,
    put: C,
    writers: readonly Writer[],
    kept: Kept,
    locks = false,
  ): Kind<At, S, C> => ({ bucket, at, key, schema, put, writers, kept, locks });

const record = kindIn('record');
const work = kindIn('work');
const producer = ['producer'] as const;
const worker = ['worker'] as const;
const both = ['producer', 'worker'] as const;
const run = 'runs/<tenant>/<yyyy>/<mm>/<dd>/<run>';

/** Every object of ours. A test compares the rights of the accounts in the store with this table. */
export const objects = {
  spec: record(`${run}/spec.json`, recordKeys.spec, Spec, 'first', producer, 'forever', true),
  result: record(`${run}/result.json`, recordKeys.result, Result, 'first', both, 'refusals90', true),
  attempt: record(
    `${run}/<attempt>-<claim>/attempt.json`,
    recordKeys.attemptRecord,
    AttemptRecord,
    'first',
    worker,
    'forever',
    true,
  ),
  log: record(`${run}/<attempt>-<claim>/log.ndjson.zst`, recordKeys.log, Bytes, 'first', worker, 'forever', true),
  evidence: record(
    `${run}/<attempt>-<claim>/evidence.sigstore.json`,
    recordKeys.evidence,
    EvidenceBundle,
    'first',
    both,
    'refusals90',
    true,
  ),
  /** Of an attempt that did not end its run. */
  attemptEvidence: record(
    `${run}/<attempt>-<claim>/attempt.sigstore.json`,
    recordKeys.attemptEvidence,
    EvidenceBundle,
    'first',
    worker,
    'forever',
    true,
  ),
  posture: record(
    'postures/<tenant>/<digest>.json',
    recordKeys.posture,
    PostureForm,
    'digest',
    worker,
    'forever',
    true,
  ),
  content: record('cas/<tenant>/sha256/<ab>/<digest>', recordKeys.cas, Bytes, 'digest', both, 'referenced', true),
  manifest: record('snapshots/<tenant>/<id>.jsonl', recordKeys.manifest, Bytes, 'digest', both, 'referenced', true),
  locations: record(
    'snapshots/<tenant>/locations/<digest>.jsonl',
    recordKeys.locations,
    Bytes,
    'digest',
    both,
    'referenced',
    true,
  ),
  snapshot: record(
    'snapshots/<tenant>/records/<id>.json',
    recordKeys.snapshotRecord,
    SnapshotRecord,
    'swap',
    both,
    'referenced',
  ),
  name: record('names/<tenant>/<name>.json', recordKeys.name, SnapshotNameRecord, 'swap', both, 'forever'),
  policy: record('policies/<digest>.json', recordKeys.policy, Policy, 'digest', producer, 'forever'),
  revocation: record(
    'policies/revoked/<digest>.json',
    recordKeys.policyRevoked,
    PolicyRevocation,
    'first',
    producer,
    'forever',
  ),
  seccomp: record('seccomp/<digest>.json', recordKeys.seccomp, Bytes, 'digest', producer, 'forever'),
  imageReport: record('images/<digest>.json', recordKeys.image, Bytes, 'digest', producer, 'forever'),
  keyList: record('keys/list.json', () => recordKeys.keyList, SignedKeyList, 'swap', ['operator'], 'forever'),
  keyRequest: record('keys/requests/<fingerprint>.json', recordKeys.keyRequest, Envelope, 'first', both, 'forever'),
  apiKey: record('apikeys/<id>.json', recordKeys.apiKey, ApiKeyRecord, 'latest', ['producer', 'operator'], 'forever'),
  tenant: record('tenants/<tenant>.json', recordKeys.tenant, TenantRecord, 'first', producer, 'forever'),
  quota: record('quotas/<tenant>.json', recordKeys.quota, QuotaRecord, 'latest', producer, 'forever'),
  schedule: record(
    'schedules/<tenant>/heads/<name>.json',
    recordKeys.scheduleHead,
    ScheduleHead,
    'swap',
    producer,
    'forever',
  ),
  scheduleVersion: record(
    'schedules/<tenant>/versions/<schedule>/<number>.json',
    recordKeys.scheduleVersion,
    ScheduleVersion,
    'first',
    producer,
    'forever',
  ),
  tick: record(
    'schedules/<tenant>/ticks/<schedule>/<tick>.json',
    recordKeys.tick,
    TickRecord,
    'swap',
    producer,
    'forever',
  ),
  batch: record(
    'batches/<tenant>/heads/<order>-<batch>.json',
    recordKeys.batchHead,
    BatchHead,
    'swap',
    producer,
    'forever',
  ),
  batchProgress: record(
    'batches/<tenant>/progress/<batch>.json',
    recordKeys.batchProgress,
    BatchProgress,
    'swap',
    producer,
    'forever',
  ),
  batchChunk: record(
    'batches/<tenant>/items/<batch>/<chunk>.json',
    recordKeys.batchChunk,
    BatchChunk,
    'first',
    producer,
    'forever',
  ),
  batchEnds: record(
    'batches/<tenant>/ends/<batch>/<round>/<chunk>.json',
    recordKeys.batchEnds,
    BatchEnds,
    'first',
    producer,
    'forever',
  ),
  batchManifest: record(
    'batches/<tenant>/manifests/<batch>/<round>.ndjson',
    recordKeys.batchManifest,
    Bytes,
    'latest',
    producer,
    'forever',
  ),
  batchEvidence: record(
    'batches/<tenant>/evidence/<batch>/<round>.sigstore.json',
    recordKeys.batchEvidence,
    EvidenceBundle,
    'first',
    producer,
    'forever',
  ),
  openBatch: work('batches/<tenant>/<batch>/<round>', workKeys.openBatch, OpenBatchMark, 'latest', producer, 'held'),
  workflow: record(
    'workflows/<tenant>/made/<order>-<workflow>.json',
    recordKeys.workflow,
    Workflow,
    'first',
    producer,
    'forever',
  ),
  workflowCancel: record(
    'workflows/<tenant>/cancels/<workflow>.json',
    recordKeys.workflowCancel,
    WorkflowCancel,
    'first',
    producer,
    'forever',
  ),
  workflowTask: record(
    'workflows/<tenant>/tasks/<workflow>/<task>.json',
    recordKeys.workflowTask,
    TaskRecord,
    'first',
    producer,
    'forever',
  ),
  workflowProgress: record(
    'workflows/<tenant>/progress/<workflow>.json',
    recordKeys.workflowProgress,
    WorkflowProgress,
    'latest',
    producer,
    'forever',
  ),
  workflowEnd: record(
    'workflows/<tenant>/ends/<workflow>.json',
    recordKeys.workflowEnd,
    WorkflowEnd,
    'first',
    producer,
    'forever',
  ),
  reusable: record('reuse/<tenant>/<computed>.json', recordKeys.reusable, ReusableRun, 'latest', producer, 'forever'),
  open: work('open/<shard>/<tenant>/<run>', workKeys.open, OpenMarker, 'first', producer, 'sequenced'),
  claim: work('claims/<run>/<attempt>', workKeys.claim, Claim, 'first', worker, 'sequenced'),
  segment: work('logs/<run>/<attempt>/<index>', workKeys.logSegment, Bytes, 'latest', worker, 'sequenced'),
  cancel: work('cancel/<run>', workKeys.cancel, CancelMark, 'first', producer, 'sequenced'),
  done: work('done/<shard>/<tenant>/<run>', workKeys.done, DoneMarker, 'latest', both, 'sequenced'),
  idempotency: work('idempotency/<tenant>/<key>', workKeys.idempotency, IdempotencyMark, 'first', producer, 'week'),
  upload: work('uploads/<tenant>/<run>-<attempt>-<id>', workKeys.outputUpload, Bytes, 'latest', worker, 'held'),
  freezing: work('freezing/<tenant>/<id>', workKeys.freezing, FreezeLease, 'latest', producer, 'held'),
  openWorkflow: work(
    'workflows/<tenant>/<workflow>',
    workKeys.openWorkflow,
    OpenWorkflowMark,
    'latest',
    producer,
    'held',
  ),
  sweeping: work('gc/sweeping', () => workKeys.sweeping, SweepMark, 'swap', ['operator'], 'held'),
  disk: work('disk/samples.json', () => workKeys.disk, DiskSamples, 'latest', producer, 'forever'),
  remembered: work('remembered/<tenant>/<place>.jsonl', workKeys.remembered, Bytes, 'latest', producer, 'forever'),
} as const;
