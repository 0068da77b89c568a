import { Callback } from './webhook.ts';
import { z } from 'zod';
import { Digest } from './digest.ts';
import { Limits } from './limits.ts';
import { PolicyName, RunId, TenantName } from './names.ts';
import { Outcome } from './outcomes.ts';
import { Posture } from './posture.ts';
import { PreloadName } from './preload.ts';
import { Receipt } from './evidence/receipt.ts';
import { ChainedStep } from './session/step.ts';
import { Labels, Requester } from './spec.ts';
import { WorkspaceResult } from './workspace.ts';

export const RunStatus = z.enum(['awaiting_approval', 'queued', 'staging', 'running', 'publishing', 'finished']);
export type RunStatus = z.infer<typeof RunStatus>;

const time = z.iso.datetime();
const bytes = z.number().int().min(0);

export const BlockResult = z.strictObject({
  index: z.number().int().min(0),
  language: z.string().nullable(),
  file: z.string().nullable(),
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  outcome: Outcome.nullable(),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  usage: z.strictObject({ wallMs: bytes, cpuMs: bytes, peakMemoryBytes: bytes, logBytes: bytes }).optional(),
});
export type BlockResult = z.infer<typeof BlockResult>;

export const OutputFile = z.strictObject({ path: z.string(), size: bytes, sha256: Digest });
export type OutputFile = z.infer<typeof OutputFile>;
export const RefusedOutput = z.strictObject({ path: z.string(), reason: z.string() });
export type RefusedOutput = z.infer<typeof RefusedOutput>;

export const Attempt = z.strictObject({
  attempt: z.number().int().min(1),
  worker: z.string(),
  /** Names the attempt's own objects in the record; attempts of older versions have none. */
  claim: z.uuid().optional(),
  startedAt: time,
  finishedAt: time.nullable(),
  outcome: Outcome.optional(),
  error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  evidence: Digest.optional().describe('of the signed statement about this attempt, if it did not end the run'),
});
export type Attempt = z.infer<typeof Attempt>;

export const Usage = z.strictObject({
  wallMs: bytes,
  cpuMs: bytes,
  peakMemoryBytes: bytes,
  logBytes: bytes,
  outputBytes: bytes,
  outputFiles: bytes,
});
export type Usage = z.infer<typeof Usage>;

export const nothingUsed: Usage = {
  wallMs: 0,
  cpuMs: 0,
  peakMemoryBytes: 0,
  logBytes: 0,
  outputBytes: 0,
  outputFiles: 0,
};

export const Issues = z.array(z.strictObject({ path: z.string(), message: z.string() }));

/** The committed record of a run: `result.json`. Putting it if absent decides which attempt counts. */
export const Result = z.strictObject({
  version: z.literal(1),
  run: RunId,
  tenant: TenantName,
  status: z.literal('finished'),
  outcome: Outcome,
  reason: z.string(),
  exitCode: z.number().int().nullable(),
  blocks: z.array(BlockResult),
  spec: Digest.nullable(),
  policy: z.strictObject({ name: PolicyName, digest: Digest }).nullable(),
  image: z.strictObject({ ref: z.string(), digest: Digest }).nullable(),
  runtime: z.enum(['runc', 'gvisor']).nullable(),
  inputs: z.array(z.strictObject({ name: z.string(), snapshot: Digest, locations: Digest.optional() })),
  labels: Labels,
  /** Of the request: who clears up tells it without reading the spec, which may be large. */
  callback: Callback.optional(),
  requester: Requester,
  limits: Limits.nullable(),
  usage: Usage,
  outputs: z.strictObject({ snapshot: Digest.nullable(), files: z.array(OutputFile), refused: z.array(RefusedOutput) }),
  logs: z.strictObject({ sha256: Digest.nullable(), bytes, truncated: z.boolean() }),
  posture: Posture.nullable(),
  attempts: z.array(Attempt),
  timings: z.strictObject({
    acceptedAt: time,
    finishedAt: time,
    queuedMs: bytes,
    stagedMs: bytes,
    sealedMs: bytes,
    ranMs: bytes,
    committedMs: bytes,
    warm: z.boolean(),
    /** Why its cell had not waited: a word of contract/why-cold.ts. Newer workers may know more. */
    cold: z
      .string()
      .regex(/^[a-z_]{1,32}$/, 'must be 1 to 32 of a-z and _')
      .optional(),
    /** The preload in which its first block ran, by its policy's name. */
    preload: PreloadName.optional(),
    /** Why its first block ran in a fresh interpreter although the policy names a preload: a word of contract/preload.ts. */
    fresh: z
      .string()
      .regex(/^[a-z_]{1,32}$/, 'must be 1 to 32 of a-z and _')
      .optional(),
  }),
  warnings: z.array(z.string()),
  /** Of a session: the chain of its steps. */
  steps: z.array(ChainedStep).optional(),
  /** What lay writable in /work at the start, and what was kept of it at the end. */
  workspace: WorkspaceResult.optional(),
  /** Every reason of a refusal. */
  errors: Issues.optional(),
  /** Where its signed statement stands in the record, and the sha256 of that object. */
  evidence: z.strictObject({ bundle: z.string(), sha256: Digest }).optional(),
  /** The producer's signed promise of when the run was accepted. */
  receipt: Receipt.optional(),
});
export type Result = z.infer<typeof Result>;

/**
 * The attempt that ended with this result: the one that ended when it did. A run that is ended between two attempts has
 * none, although earlier ones came to an end of their own.
 */
export function endingAttempt({ attempts, timings }: Pick<Result, 'attempts' | 'timings'>): Attempt | undefined {
  const last = attempts.at(-1);
  return last?.outcome !== undefined && last.finishedAt === timings.finishedAt ? last : undefined;
}

/** The attempt whose result was committed, and whose log is the run's; undefined if no program ended the run. */
export function committedAttempt({ attempts }: Pick<Result, 'attempts'>): Attempt | undefined {
  return attempts.findLast(({ outcome }) => outcome !== undefined);
}
