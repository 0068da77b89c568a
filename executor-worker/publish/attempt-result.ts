import type { Attempt, Result } from '@hotcell/contract/result.ts';
import { type Ending, emptyResult } from '@hotcell/record/empty-result.ts';
import { plannedPreload } from '../waiting/planned-preload.ts';
import type { Executed, Stage } from '../stages.ts';

/** An ending, and how the platform failed the attempt if it did. */
export type AttemptEnding = Ending & { error?: Attempt['error'] };

export function resultOf(executed: Executed, at: Date): Result {
  const { spec, stagedMs, sealedMs, sealedAt } = executed;
  const { verdict, blocks, steps, usage, outputs, workspace, logs, ranMs } = executed.execution;
  const base = resultWithout(executed, verdict, at);
  // The commit is what is not the program since the cell was sealed: logs and outputs on their way.
  const committedMs = Math.max(0, Math.round(performance.now() - sealedAt) - ranMs);
  const warnings = [...base.warnings, ...verdict.warnings];
  if (spec.publish !== undefined && verdict.outcome === 'succeeded' && outputs.snapshot === null)
    warnings.push(`Nothing was published as ${spec.publish}: the run wrote no files to /outputs.`);
  return {
    ...base,
    exitCode: verdict.exitCode,
    blocks: [...blocks],
    ...(steps ? { steps: [...steps] } : {}),
    usage,
    outputs,
    ...(workspace ? { workspace } : {}),
    logs,
    timings: { ...base.timings, stagedMs, sealedMs, ranMs, committedMs, ...interpreterOf(executed) },
    warnings,
  };
}

/** Whether its first block found its libraries loaded; if not, why, where the policy names a preload. */
function interpreterOf({ spec, effective, cell, execution }: Executed): Pick<Result['timings'], 'preload' | 'fresh'> {
  const planned = plannedPreload(spec, effective);
  if (planned === undefined) return {};
  if (typeof planned === 'string') return { fresh: planned };
  if (execution.preloaded) return { preload: planned.name };
  return { fresh: cell.warm ? 'failed' : 'cold' };
}

const startOf = ({ warm, cold }: Executed['cell']) => ({ warm, ...(cold === undefined ? {} : { cold }) });

/** The result of a run that no program ended: it was refused, cancelled before it began, or given up. */
export function resultWithout(stage: Stage, { error, ...ending }: AttemptEnding, at: Date): Result {
  const { ticket, history } = stage;
  const claim = 'claim' in stage ? stage.claim : undefined;
  const base = emptyResult(ticket, 'spec' in stage ? stage.spec : undefined, ending, at);
  const finishedAt = noEarlierThan(new Date(base.timings.finishedAt), claim?.startedAt);
  const own = claim && {
    attempt: claim.attempt,
    worker: claim.worker,
    claim: claim.nonce,
    startedAt: claim.startedAt,
    finishedAt,
    outcome: ending.outcome,
    ...(error ? { error } : {}),
  };
  const until = Date.parse(claim?.startedAt ?? finishedAt);
  // The clocks of two hosts may differ: never negative.
  const queuedMs = Math.max(0, until - Date.parse(base.timings.acceptedAt));
  return {
    ...base,
    limits: 'effective' in stage ? stage.effective.limits : null,
    posture: 'cell' in stage ? stage.cell.formed.named : null,
    attempts: [...history.attempts, ...(own ? [own] : [])],
    timings: { ...base.timings, finishedAt, queuedMs, ...('cell' in stage ? startOf(stage.cell) : {}) },
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
    one.error ? [`attempt ${one.attempt} on ${one.worker}: ${one.error.message.replace(/\.$/, '')}`] : [],
  );
  return `The platform failed, not your program: ${causes.join('; ')}. Submit it again with POST /v1/runs/${ticket.run}/rerun.`;
}
