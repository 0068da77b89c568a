import type { RunRow } from '@hotcell/contract/api/runs.ts';
import { authorsName } from '@hotcell/contract/blocks.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Outcome } from '@hotcell/contract/outcomes.ts';
import type { Result, RunStatus } from '@hotcell/contract/result.ts';
import type { Spec } from '@hotcell/contract/spec.ts';

/** How far the lists of a tenant follow the record. */
export interface Place {
  tenant: string;
  /** Milliseconds since 1970: every run until then was looked at. */
  tail: number;
  /** The day (`2026/11/18`) that is being filled: those after it are filled; null when all are. */
  day: string | null;
  /** The last run of that day that was looked at. */
  after: string;
}

/** What is written to the read model. Changes that are given together are written in one transaction. */
export type Change =
  | { kind: 'row'; row: RunRow }
  /** How far an unfinished run is, from a message. */
  | { kind: 'progressed'; tenant: string; run: RunId; status: Exclude<RunStatus, 'finished'> }
  /** Known from a message alone: the reason is read from the result when a list shows the run. */
  | { kind: 'ended'; tenant: string; run: RunId; outcome: Outcome; at: string }
  /** It was never accepted. */
  | { kind: 'forgotten'; run: RunId }
  | { kind: 'place'; place: Place };

type Blocks = readonly Parameters<typeof authorsName>[0][];

type Listed = Pick<Spec, 'run' | 'tenant' | 'policy' | 'requester' | 'labels' | 'acceptedAt'> & {
  inputs: readonly { name: string }[];
  blocks: Blocks;
};

/** What people call a run: the label that `--name` sets, else the file of its first block. */
const nameOf = (labels: Spec['labels'], [first]: Blocks) => labels['name'] ?? authorsName(first);

const inputNames = (inputs: readonly { name: string }[]) => inputs.map(({ name }) => name);

export function rowAccepted(spec: Listed, queue: string | null): Change {
  const { run, tenant, labels, acceptedAt } = spec;
  const begun = { status: 'queued', outcome: null, reason: '', exitCode: null, finishedAt: null } as const;
  const [policy, requester] = [spec.policy.name, spec.requester.key];
  const asked = {
    run,
    tenant,
    name: nameOf(labels, spec.blocks),
    policy,
    requester,
    labels,
    inputs: inputNames(spec.inputs),
    acceptedAt,
  };
  return { kind: 'row', row: { ...asked, queue, ...begun } };
}

/** A run that never began has its blocks in its spec alone. */
export function rowFinished(result: Result, blocks: Blocks = result.blocks): Change & { kind: 'row' } {
  const { run, tenant, status, outcome, reason, exitCode, labels } = result;
  const { acceptedAt, finishedAt } = result.timings;
  const asked = { run, tenant, name: nameOf(labels, blocks), labels, inputs: inputNames(result.inputs), acceptedAt };
  const ended = { ...asked, status, outcome, reason, exitCode, finishedAt };
  const policy = result.policy?.name ?? null;
  return { kind: 'row', row: { ...ended, policy, queue: null, requester: result.requester.key } };
}
