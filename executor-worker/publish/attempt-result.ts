import type { Outcome } from '@hotcell/contract/outcomes.ts';
import { Digest } from '@hotcell/contract/digest.ts';
import type { Issue } from '@hotcell/contract/errors.ts';
import { timeOf } from '@hotcell/contract/names.ts';
import { type Attempt, nothingUsed, type Result } from '@hotcell/contract/result.ts';
import type { Executed, Stage } from '../stages.ts';

export interface Ending {
  outcome: Outcome;
  reason: string;
  errors?: readonly Issue[];
  /** How the platform failed the attempt. */
  error?: Attempt['error'];
}

/** The result of a run that no program ended: it was refused, cancelled before it began, or given up. */
export function resultWithout(stage: Stage, ending: Ending, at: Date): Result {
  const { outcome, reason, errors, error } = ending;
  return { ...baseOf(stage, outcome, at, error), outcome, reason, ...(errors ? { errors: [...errors] } : {}) };
}

export function resultOf(executed: Executed, at: Date): Result {
  const { spec, stagedMs, sealedMs, sealedAt, cell } = executed;
  const { verdict, blocks, usage, outputs, log, ranMs } = executed.execution;
  const base = baseOf(executed, verdict.outcome, at);
  // The commit is what is not the program since the cell was sealed: logs and outputs on their way.
  const committedMs = Math.max(0, Math.round(performance.now() - sealedAt) - ranMs);
  const warnings = [...base.warnings, ...verdict.warnings];
  if (spec.publish !== undefined && verdict.outcome === 'succeeded' && outputs.snapshot === null)
    warnings.push(`Nothing was published as ${spec.publish}: the run wrote no files to /outputs.`);
  return {
    ...base,
    outcome: verdict.outcome,
    reason: verdict.reason,
    exitCode: verdict.exitCode,
    blocks: [...blocks],
    usage,
    outputs: {
      snapshot: outputs.snapshot === null ? null : Digest.parse(outputs.snapshot),
      files: outputs.files,
      refused: outputs.refused,
    },
    logs: { sha256: log.sha256 === null ? null : Digest.parse(log.sha256), bytes: log.bytes, truncated: log.truncated },
    timings: { ...base.timings, stagedMs, sealedMs, ranMs, committedMs, warm: cell.warm },
    warnings,
  };
}

function baseOf(
  stage: Stage,
  outcome: Outcome,
  at: Date,
  error?: Attempt['error'],
): Omit<Result, 'outcome' | 'reason'> {
  const { ticket, history } = stage;
  const spec = 'spec' in stage ? stage.spec : undefined;
  const claim = 'claim' in stage ? stage.claim : undefined;
  const acceptedAt = spec?.acceptedAt ?? timeOf(ticket.run).toISOString();
  const finishedAt = noEarlierThan(at, acceptedAt, claim?.startedAt);
  const own = claim && {
    attempt: claim.attempt,
    worker: claim.worker,
    startedAt: claim.startedAt,
    finishedAt,
    outcome,
    ...(error ? { error } : {}),
  };
  const until = Date.parse(claim?.startedAt ?? finishedAt);
  return {
    version: 1,
    run: ticket.run,
    tenant: ticket.tenant,
    status: 'finished',
    exitCode: null,
    blocks: [],
    spec: ticket.spec,
    policy: spec?.policy ?? null,
    image: spec?.image ?? null,
    runtime: spec?.runtime ?? null,
    inputs: (spec?.inputs ?? []).map(({ name, snapshot, locations }) => ({ name, snapshot, locations })),
    labels: spec?.labels ?? {},
    // If the spec is gone, so is the requester's name.
    requester: spec?.requester ?? { key: 'unknown', role: 'reader' },
    limits: 'effective' in stage ? stage.effective.limits : null,
    usage: nothingUsed,
    outputs: { snapshot: null, files: [], refused: [] },
    logs: { sha256: null, bytes: 0, truncated: false },
    posture: 'cell' in stage ? stage.cell.posture : null,
    attempts: [...history.attempts, ...(own ? [own] : [])],
    timings: {
      acceptedAt,
      finishedAt,
      // The clocks of two hosts may differ: never negative.
      queuedMs: Math.max(0, until - Date.parse(acceptedAt)),
      stagedMs: 0,
      sealedMs: 0,
      ranMs: 0,
      committedMs: 0,
      warm: false,
    },
    warnings: [...(spec?.warnings ?? [])],
  };
}

/** The clocks of hosts differ and may be set while a run executes: nothing ends before what came before it. */
export function noEarlierThan(at: Date, ...earlier: readonly (string | undefined)[]): string {
  return [at.toISOString(), ...earlier.filter((time) => time !== undefined)].toSorted().at(-1) ?? at.toISOString();
}

/** Why a run was given up, with the cause of every attempt. */
export function lostReason(stage: Stage, error: Attempt['error']): string {
  const { ticket, history } = stage;
  const own = 'claim' in stage ? [{ ...stage.claim, error }] : [];
  const causes = [...history.attempts, ...own].flatMap((one) =>
    one.error ? [`attempt ${one.attempt} on ${one.worker}: ${one.error.message}`] : [],
  );
  return `The platform failed, not your program: ${causes.join('; ')}. Try again with ./hotcell rerun ${ticket.run}`;
}
