import { Digest } from '@hotcell/contract/digest.ts';
import type { Issue } from '@hotcell/contract/errors.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import { timeOf } from '@hotcell/contract/names.ts';
import type { Posture } from '@hotcell/contract/posture.ts';
import type { Claim } from '@hotcell/contract/records.ts';
import type { Outcome } from '@hotcell/contract/outcomes.ts';
import { nothingUsed, type Result } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { TicketBody } from '@hotcell/contract/ticket.ts';
import { notBefore } from '../clock.ts';
import type { Execution } from '../execute/execute.ts';
import type { History } from '../history.ts';

/** What is known of a run when its result is written; the further it came, the more. */
export interface Known {
  ticket: TicketBody;
  spec?: Spec | undefined;
  limits?: Limits | undefined;
  history: History;
  claim?: Claim | undefined;
  posture?: Posture | undefined;
  timings?: Partial<Result['timings']>;
  /** What the platform failed of. */
  error?: { code: string; message: string } | undefined;
}

export interface Ending {
  outcome: Outcome;
  reason: string;
  errors?: readonly Issue[];
}

/** The result of a run that no program ended: it was refused, cancelled before it began, or given up. */
export function resultWithout(known: Known, ending: Ending, at: Date): Result {
  const { outcome, reason, errors } = ending;
  return { ...baseOf(known, outcome, at), outcome, reason, ...(errors ? { errors: [...errors] } : {}) };
}

export function resultOf(known: Known, execution: Execution, at: Date): Result {
  const { verdict, blocks, usage, outputs, log } = execution;
  const base = baseOf(known, verdict.outcome, at);
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
    warnings: [...base.warnings, ...verdict.warnings, ...unpublished(known, execution)],
  };
}

function baseOf(known: Known, outcome: Outcome, at: Date): Omit<Result, 'outcome' | 'reason'> {
  const { ticket, spec, claim, history } = known;
  const acceptedAt = spec?.acceptedAt ?? timeOf(ticket.run).toISOString();
  const finishedAt = notBefore(at, acceptedAt, claim?.startedAt);
  const own = claim && {
    attempt: claim.attempt,
    worker: claim.worker,
    startedAt: claim.startedAt,
    finishedAt,
    outcome,
    ...(known.error ? { error: known.error } : {}),
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
    // A spec that is gone names nobody.
    requester: spec?.requester ?? { key: 'unknown', role: 'reader' },
    limits: known.limits ?? null,
    usage: nothingUsed,
    outputs: { snapshot: null, files: [], refused: [] },
    logs: { sha256: null, bytes: 0, truncated: false },
    posture: known.posture ?? null,
    attempts: [...history.attempts, ...(own ? [own] : [])],
    timings: {
      acceptedAt,
      finishedAt,
      // Two hosts' clocks may differ: never less than nothing.
      queuedMs: Math.max(0, until - Date.parse(acceptedAt)),
      stagedMs: 0,
      sealedMs: 0,
      ranMs: 0,
      committedMs: 0,
      warm: false,
      ...known.timings,
    },
    warnings: [...(spec?.warnings ?? [])],
  };
}

/** A name that was asked for and stays where it was, though the run succeeded. */
function unpublished({ spec }: Known, { verdict, outputs }: Execution): string[] {
  if (spec?.publish === undefined || verdict.outcome !== 'succeeded' || outputs.snapshot !== null) return [];
  return [`nothing was published as ${spec.publish}: the run wrote no files to /outputs`];
}

/** Why a run was given up, with the cause of every attempt. */
export function lostReason(known: Known): string {
  const causes = known.history.attempts.flatMap(({ attempt, worker, error }) =>
    error ? [`attempt ${attempt} on ${worker}: ${error.message}`] : [],
  );
  const { claim, error } = known;
  if (error) causes.push(`${claim ? `attempt ${claim.attempt} on ${claim.worker}: ` : ''}${error.message}`);
  return `the platform failed, not the program: ${causes.join('; ')}. Try again with ./hotcell rerun ${known.ticket.run}`;
}
