import { z } from 'zod';
import { canonical, Digest, sha256 } from '../digest.ts';
import { LogRow } from '../log-rows.ts';
import { RunId, TenantName } from '../names.ts';
import { Outcome } from '../outcomes.ts';
import { ceilings } from '../request-ceilings.ts';
import { Block, BundledFile, Requester } from '../spec.ts';

const time = z.iso.datetime();
const bytes = z.number().int().min(0);

const extras = {
  files: z.array(BundledFile).max(ceilings.files.most).optional(),
  timeoutSeconds: z.number().int().min(1).optional().describe('less time than the session gives each step'),
};

/** The body of POST /v1/runs/{run}/steps. */
export const StepRequest = z.union(
  [z.strictObject({ ...Block.options[0].shape, ...extras }), z.strictObject({ ...Block.options[1].shape, ...extras })],
  { error: 'must be { language, code } or { argv: [...] }, with files and timeoutSeconds if they are needed' },
);
export type StepRequest = z.infer<typeof StepRequest>;

const link = {
  version: z.literal(1),
  run: RunId,
  tenant: TenantName,
  index: z.number().int().min(0),
  /** Tells the one that stands there from another that was to. */
  id: z.uuid(),
  at: time,
  requester: Requester,
  /** The digest of the step before it; of the first one, that of the session's spec. */
  before: Digest,
};

/** A step as it was asked for: put, if absent, before it is executed. The last link asks for the end of the session. */
export const StepRecord = z.discriminatedUnion('kind', [
  z.strictObject({
    ...link,
    kind: z.literal('step'),
    block: Block,
    /** Of the code's bytes, or of the canonical argv. */
    code: Digest,
    files: z.array(BundledFile),
    timeoutSeconds: z.number().int().min(1).optional(),
    /** What screening says of its code. */
    warnings: z.array(z.string()).optional(),
    /** By which a caller may send it again. */
    repeat: z.strictObject({ key: Digest, body: Digest }).optional(),
  }),
  z.strictObject({ ...link, kind: z.literal('finish') }),
]);
export type StepRecord = z.infer<typeof StepRecord>;
export type CodeStep = Extract<StepRecord, { kind: 'step' }>;

export function codeOf(block: Block): Digest {
  return 'code' in block ? sha256(block.code) : sha256(canonical(block.argv));
}

/** The worker that has the session: put, if absent, before its first step. No other worker takes the session up. */
export const SessionRecord = z.strictObject({
  version: z.literal(1),
  run: RunId,
  tenant: TenantName,
  attempt: z.number().int().min(1),
  claim: z.uuid(),
  worker: z.string(),
  /** The sha256 of the program that is the sessions' interpreter. */
  interpreter: Digest,
  at: time,
});
export type SessionRecord = z.infer<typeof SessionRecord>;

/** Something that a step displayed. */
export const StepOutput = z.strictObject({
  kind: z.enum(['result', 'display']),
  /** Forms of the same thing have the same number. */
  display: z.number().int().min(0).optional(),
  type: z.string().optional(),
  size: bytes,
  sha256: Digest,
  /** Its bytes, where they are little text. */
  text: z.string().optional(),
});
export type StepOutput = z.infer<typeof StepOutput>;

const ending = {
  index: z.number().int().min(0),
  language: z.string().nullable(),
  /** Null: it did not run. */
  outcome: Outcome.nullable(),
  exitCode: z.number().int().nullable(),
  /** `job`: only its interpreter says so, in which code of the session may have changed anything. `cell`: the kernel does. */
  saidBy: z.enum(['cell', 'job']).nullable(),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
};

/** How a step ended: put behind it, under the claim of the worker that has the session. */
export const StepResult = z.strictObject({
  version: z.literal(1),
  run: RunId,
  tenant: TenantName,
  ...ending,
  /** The digest of its record. */
  step: Digest,
  code: Digest,
  reason: z.string(),
  signal: z.string().nullable(),
  /** As the interpreter says. */
  error: z.strictObject({ name: z.string(), message: z.string() }).optional(),
  /** Which of the session's interpreters ran it, from 1: the names of an earlier one are gone. */
  interpreter: z.number().int().min(1).optional(),
  usage: z.strictObject({ wallMs: bytes, cpuMs: bytes, peakMemoryBytes: bytes, logBytes: bytes }),
  /** Of its rows as NDJSON. They stand here if they are few, and else beside it. */
  log: z.strictObject({ sha256: Digest, bytes, rows: z.array(LogRow).optional() }),
  outputs: z.array(StepOutput),
  refused: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
});
export type StepResult = z.infer<typeof StepResult>;

/** A step in the result of its session. */
export const ChainedStep = z.strictObject({
  ...ending,
  code: Digest,
  /** The digests of its record and, if it ended, of its result. */
  step: Digest,
  result: Digest.nullable(),
  outputs: z.array(StepOutput.omit({ text: true })),
  /** Of one that has no result: why. */
  reason: z.string().optional(),
  /** So many more stand in the step's own result alone. */
  outputsLeftOut: z.number().int().positive().optional(),
});
export type ChainedStep = z.infer<typeof ChainedStep>;

/** A session has as many steps as its policy allows; its result, which is read whole, names so many of their outputs. */
export const mostChainedOutputs = 2_000;

/** A step as its session's result names it, behind the steps before it. */
export function chained(result: StepResult, digest: Digest, before: readonly ChainedStep[]): ChainedStep {
  const room = mostChainedOutputs - before.reduce((sum, other) => sum + other.outputs.length, 0);
  return namedStep(result, digest, room);
}

/** With so many of its outputs at most. */
export function namedStep(result: StepResult, digest: Digest, room: number): ChainedStep {
  const { index, language, outcome, exitCode, saidBy, startedAt, finishedAt, code, step, outputs } = result;
  const kept = outputs.slice(0, room).map(({ text: _text, ...output }) => output);
  const leftOut = outputs.length - kept.length;
  return {
    index,
    language,
    outcome,
    exitCode,
    saidBy,
    startedAt,
    finishedAt,
    code,
    step,
    result: digest,
    outputs: kept,
    ...(leftOut > 0 ? { outputsLeftOut: leftOut } : {}),
  };
}

const lostMeanwhile = 'The session was lost while this step ran, or just before: what it did is not known.';
const neverRan = 'The session ended before the turn of this step: it did not run.';

/** Recorded, and not ended: it was running when its worker died, or never ran. */
export function unended(record: CodeStep, digest: Digest, outcome: 'lost' | null): ChainedStep {
  const { index, code } = record;
  const nothing = { exitCode: null, saidBy: null, startedAt: null, finishedAt: null, result: null, outputs: [] };
  const reason = outcome === 'lost' ? lostMeanwhile : neverRan;
  return { index, language: languageOf(record), outcome, code, step: digest, ...nothing, reason };
}

export const languageOf = ({ block }: CodeStep) => ('language' in block ? block.language : null);
