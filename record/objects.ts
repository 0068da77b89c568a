import { CancelMark } from '@hotcell/contract/heartbeats.ts';
import { Policy, PolicyRevocation } from '@hotcell/contract/policy.ts';
import { Result } from '@hotcell/contract/result.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import { z } from 'zod';
import { recordKeys, workKeys } from './layout.ts';
import {
  ApiKeyRecord,
  AttemptRecord,
  Claim,
  DoneMarker,
  FreezeLease,
  IdempotencyMark,
  OpenMarker,
  SnapshotNameRecord,
  SnapshotRecord,
  SweepMark,
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
 * notary has its run. `held`: until its writer, or the collector in its place, lets go of it.
 */
type Kept = 'forever' | 'referenced' | 'sequenced' | 'week' | 'held';

export interface Kind<
  At extends readonly unknown[] = readonly never[],
  S extends z.ZodType = z.ZodType,
  C extends Condition = Condition,
> {
  bucket: 'record' | 'work';
  put: C;
  writers: readonly Writer[];
  kept: Kept;
  /** The key, with names in the place of what varies. */
  at: string;
  key: (...at: At) => string;
  schema: S;
}

/** Bytes that are not one JSON value. */
const Bytes = z.never();

function kind<At extends readonly unknown[], S extends z.ZodType, C extends Condition>(
  bucket: 'record' | 'work',
  at: string,
  key: (...at: At) => string,
  schema: S,
  put: C,
  writers: readonly Writer[],
  kept: Kept,
): Kind<At, S, C> {
  return { bucket, at, key, schema, put, writers, kept };
}

const run = 'runs/<tenant>/<yyyy>/<mm>/<dd>/<run>';

/** Every object of ours. A test compares the rights of the accounts in the store with this table. */
export const objects = {
  spec: kind('record', `${run}/spec.json`, recordKeys.spec, Spec, 'first', ['producer'], 'forever'),
  result: kind('record', `${run}/result.json`, recordKeys.result, Result, 'first', ['producer', 'worker'], 'forever'),
  attempt: kind(
    'record',
    `${run}/<attempt>/attempt.json`,
    recordKeys.attemptRecord,
    AttemptRecord,
    'first',
    ['worker'],
    'forever',
  ),
  log: kind('record', `${run}/<attempt>/log.ndjson.zst`, recordKeys.log, Bytes, 'latest', ['worker'], 'forever'),
  content: kind(
    'record',
    'cas/<tenant>/sha256/<ab>/<digest>',
    recordKeys.cas,
    Bytes,
    'digest',
    ['producer', 'worker'],
    'referenced',
  ),
  manifest: kind(
    'record',
    'snapshots/<tenant>/<id>.jsonl',
    recordKeys.manifest,
    Bytes,
    'digest',
    ['producer', 'worker'],
    'referenced',
  ),
  locations: kind(
    'record',
    'snapshots/<tenant>/locations/<digest>.jsonl',
    recordKeys.locations,
    Bytes,
    'digest',
    ['producer', 'worker'],
    'referenced',
  ),
  snapshot: kind(
    'record',
    'snapshots/<tenant>/records/<id>.json',
    recordKeys.snapshotRecord,
    SnapshotRecord,
    'latest',
    ['producer', 'worker'],
    'referenced',
  ),
  name: kind(
    'record',
    'names/<tenant>/<name>.json',
    recordKeys.name,
    SnapshotNameRecord,
    'swap',
    ['producer', 'worker'],
    'forever',
  ),
  policy: kind('record', 'policies/<digest>.json', recordKeys.policy, Policy, 'digest', ['producer'], 'forever'),
  revocation: kind(
    'record',
    'policies/revoked/<digest>.json',
    recordKeys.policyRevoked,
    PolicyRevocation,
    'first',
    ['producer'],
    'forever',
  ),
  seccomp: kind('record', 'seccomp/<digest>.json', recordKeys.seccomp, Bytes, 'digest', ['producer'], 'forever'),
  imageReport: kind('record', 'images/<digest>.json', recordKeys.image, Bytes, 'digest', ['producer'], 'forever'),
  apiKey: kind(
    'record',
    'apikeys/<id>.json',
    recordKeys.apiKey,
    ApiKeyRecord,
    'latest',
    ['producer', 'operator'],
    'forever',
  ),
  open: kind('work', 'open/<shard>/<tenant>/<run>', workKeys.open, OpenMarker, 'first', ['producer'], 'sequenced'),
  claim: kind('work', 'claims/<run>/<attempt>', workKeys.claim, Claim, 'first', ['worker'], 'sequenced'),
  segment: kind('work', 'logs/<run>/<attempt>/<index>', workKeys.logSegment, Bytes, 'latest', ['worker'], 'sequenced'),
  cancel: kind('work', 'cancel/<run>', workKeys.cancel, CancelMark, 'first', ['producer'], 'sequenced'),
  done: kind(
    'work',
    'done/<shard>/<tenant>/<run>',
    workKeys.done,
    DoneMarker,
    'latest',
    ['producer', 'worker'],
    'sequenced',
  ),
  idempotency: kind(
    'work',
    'idempotency/<tenant>/<key>',
    workKeys.idempotency,
    IdempotencyMark,
    'first',
    ['producer'],
    'week',
  ),
  upload: kind(
    'work',
    'uploads/<tenant>/<run>-<attempt>-<id>',
    workKeys.outputUpload,
    Bytes,
    'latest',
    ['worker'],
    'held',
  ),
  freezing: kind('work', 'freezing/<tenant>/<id>', workKeys.freezing, FreezeLease, 'latest', ['producer'], 'held'),
  sweeping: kind('work', 'gc/sweeping', () => workKeys.sweeping, SweepMark, 'swap', ['operator'], 'held'),
  remembered: kind(
    'work',
    'remembered/<tenant>/<place>.jsonl',
    workKeys.remembered,
    Bytes,
    'latest',
    ['producer'],
    'forever',
  ),
} as const;
