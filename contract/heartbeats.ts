import { z } from 'zod';
import { RunId, SnapshotName, TenantName, WorkerName } from './names.ts';
import { Outcome } from './outcomes.ts';

/** What is in Valkey besides tickets. All of it can be lost: it is written again, or restored from the buckets. */
const time = z.iso.datetime();

/** Written every second by the worker that has the run; without it, the attempt counts as dead. */
export const RunBeat = z.strictObject({
  run: RunId,
  tenant: TenantName,
  status: z.enum(['queued', 'staging', 'running', 'publishing']),
  attempt: z.number().int().min(0),
  worker: WorkerName,
  nonce: z.string(),
  since: time,
  waiting: z.strictObject({ code: z.string(), message: z.string() }).optional(),
});
export type RunBeat = z.infer<typeof RunBeat>;

const Resources = z.strictObject({
  cpus: z.number().min(0),
  memoryBytes: z.number().min(0),
  runs: z.number().int().min(0),
});
export type Resources = z.infer<typeof Resources>;

export const CellBeat = z.strictObject({
  id: z.string(),
  container: z.string(),
  state: z.enum(['waiting', 'busy', 'destroying']),
  run: RunId.optional(),
  /** Why the last removal failed; the worker tries again. */
  problem: z.string().optional(),
});
export type CellBeat = z.infer<typeof CellBeat>;

export const WorkerBeat = z.strictObject({
  name: WorkerName,
  host: z.string(),
  state: z.enum(['ready', 'draining', 'drained']),
  queues: z.array(z.string()),
  capacity: Resources,
  used: Resources,
  runs: z.array(RunId),
  cells: z.array(CellBeat),
  /** Since it began: the runs whose cell had waited (`warm`), and those whose cell was made for them, by the reason. */
  starts: z.record(z.string().max(32), z.int().min(0)).optional(),
  /** What its cache of inputs takes of its disk. */
  cacheBytes: z.number().min(0).optional(),
  startedAt: time,
  at: time,
});
export type WorkerBeat = z.infer<typeof WorkerBeat>;

/** Events of one channel. Each is only a hint to look: the buckets hold the truth. */
export const LiveEvent = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('status'),
    run: RunId,
    tenant: TenantName,
    status: z.enum(['queued', 'staging', 'running', 'publishing', 'finished']),
    outcome: Outcome.optional(),
    at: time,
  }),
  z.strictObject({ type: z.literal('cancel'), run: RunId }),
  /** Of a session: a step was recorded, is to be interrupted, or is over. */
  z.strictObject({
    type: z.literal('step'),
    run: RunId,
    step: z.number().int().min(0),
    what: z.enum(['recorded', 'interrupt', 'over']),
  }),
  z.strictObject({ type: z.literal('drain'), worker: WorkerName }),
  z.strictObject({ type: z.literal('schedule'), tenant: TenantName, name: z.string().max(63) }),
  /** A name of snapshots has a new version. */
  z.strictObject({ type: z.literal('published'), tenant: TenantName, name: SnapshotName }),
  z.strictObject({ type: z.literal('webhook'), tenant: TenantName }),
  z.strictObject({ type: z.literal('batch'), tenant: TenantName, batch: RunId }),
  z.strictObject({ type: z.literal('workflow'), tenant: TenantName, workflow: RunId }),
]);
export type LiveEvent = z.infer<typeof LiveEvent>;

/** A refused ticket, for `status`: what it claimed to be, and why it was refused. */
export const RefusedTicket = z.strictObject({ at: time, queue: z.string(), id: z.string(), why: z.string() });
export type RefusedTicket = z.infer<typeof RefusedTicket>;

/** Who cancels a run, and why: what counts is the one in the bucket, and Valkey has a copy. */
export const CancelMark = z.strictObject({
  version: z.literal(1),
  run: RunId,
  tenant: TenantName,
  by: z.string(),
  reason: z.string(),
  at: time,
});
export type CancelMark = z.infer<typeof CancelMark>;
