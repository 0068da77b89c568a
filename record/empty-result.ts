import type { Digest } from '@hotcell/contract/digest.ts';
import type { Issue } from '@hotcell/contract/errors.ts';
import { type RunId, timeOf } from '@hotcell/contract/names.ts';
import type { Outcome } from '@hotcell/contract/outcomes.ts';
import { nothingUsed, type Result } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { keptNothing } from '@hotcell/contract/workspace.ts';

export interface Ending {
  outcome: Outcome;
  reason: string;
  /** Every reason of a refusal. */
  errors?: readonly Issue[];
}

/** The result of a run in which nothing was executed: what every other result adds to. */
export function emptyResult(
  { run, tenant, spec: digest }: { run: RunId; tenant: string; spec: Digest | null },
  spec: Spec | undefined,
  { outcome, reason, errors }: Ending,
  at: Date,
): Result {
  const accepted = spec ? new Date(spec.acceptedAt) : timeOf(run);
  // Two hosts' clocks may differ: nothing ends before it began.
  const waitedMs = Math.max(0, at.getTime() - accepted.getTime());
  return {
    version: 1,
    run,
    tenant,
    status: 'finished',
    outcome,
    reason,
    exitCode: null,
    blocks: [],
    spec: digest,
    policy: spec?.policy ?? null,
    image: spec?.image ?? null,
    runtime: spec?.runtime ?? null,
    inputs: (spec?.inputs ?? []).map(({ name, snapshot, locations }) => ({ name, snapshot, locations })),
    ...(spec?.workspace ? { workspace: keptNothing(spec.workspace) } : {}),
    labels: spec?.labels ?? {},
    ...(spec?.callback === undefined ? {} : { callback: spec.callback }),
    // A spec that is missing names no requester.
    requester: spec?.requester ?? { key: 'unknown', role: 'reader' },
    limits: null,
    usage: nothingUsed,
    outputs: { snapshot: null, files: [], refused: [] },
    logs: { sha256: null, bytes: 0, truncated: false },
    posture: null,
    attempts: [],
    timings: {
      acceptedAt: spec?.acceptedAt ?? accepted.toISOString(),
      finishedAt: new Date(accepted.getTime() + waitedMs).toISOString(),
      queuedMs: waitedMs,
      stagedMs: 0,
      sealedMs: 0,
      ranMs: 0,
      committedMs: 0,
      warm: false,
    },
    warnings: [...(spec?.warnings ?? [])],
    ...(errors ? { errors: [...errors] } : {}),
  };
}
