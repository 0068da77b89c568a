import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { type Effective, judgeInputs } from '@hotcell/contract/admission.ts';
import { canonical } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { showIssues } from '@hotcell/contract/parse.ts';
import { stagedOf } from '@hotcell/contract/workspace.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { PinnedPolicies } from '@hotcell/record/pinned-policies.ts';
import { locatedAt } from '@hotcell/record/snapshot-store.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { InputCache } from './cache.ts';
import type { HeldTree } from './held-tree.ts';
import { removeFlatFolder } from './closed-tree.ts';
import { fullDisk } from './full-disk.ts';
import type { Places } from './places.ts';
import { makeReadOnly } from './tree.ts';
import type { Mount } from '../cell/cell-plan.ts';

/** Inputs, presented as read-only trees; they are held in the cache until released. */
export interface StagedInputs extends AsyncDisposable {
  mounts: readonly Mount[];
  /** The size of each input, for the policy to judge. */
  inputs: readonly { name: string; files: number; bytes: number }[];
  /** The same in parts, for a cell that is there already. */
  parts: InputParts;
}

export interface InputParts {
  /** The text of params.json. */
  params: string;
  trees: readonly { name: string; tree: Pick<HeldTree, 'files' | 'copyTo'> }[];
}

type StagedSpec = Pick<Spec, 'tenant' | 'inputs' | 'workspace'>;

export interface StageDeps {
  store: Buckets;
  inputs: InputCache;
}

/**
 * /inputs with the parameters and one mount point per input, and the input's tree mounted there. Nothing else is visible
 * there: the mounts cover what an image has under that name.
 */
export async function stageInputs(
  deps: StageDeps,
  spec: StagedSpec & Pick<Spec, 'params'>,
  options: { signal?: AbortSignal; verifyEachUse?: boolean; waits?: () => void } = {},
): Promise<StagedInputs> {
  const { held, user } = await holdInTurn(deps, spec, options);
  using stack = new DisposableStack();
  // Disposed of last: those that wait for it look once nothing is held.
  stack.use(user);
  for (const { tree } of held) stack.use(tree);
  const params = canonical(spec.params);
  const folder = layOut(deps.inputs.places, stagedOf(spec), params);
  stack.defer(() => removeFlatFolder(folder));
  crashPoint('inputs-laid-out');
  const kept = stack.move();
  const trees: Mount[] = held.map(({ name, tree }) => ({ source: tree.path, target: `/inputs/${name}` }));
  return {
    mounts: [{ source: folder, target: '/inputs' }, ...trees],
    inputs: held.map(({ name, tree: { files, bytes } }) => ({ name, files, bytes })),
    parts: { params, trees: held },
    [Symbol.asyncDispose]: async () => kept.dispose(),
  };
}

/** Once the inputs are staged their sizes are known, and the policy judges those as well. */
export async function stageJudged(
  deps: StageDeps & { policies: Pick<PinnedPolicies, 'get'> },
  spec: Spec,
  effective: Effective,
  options: { signal: AbortSignal; waits: () => void },
): Promise<StagedInputs> {
  const { policy } = await deps.policies.get(spec.policy.digest);
  const staged = await stageInputs(deps, spec, { ...options, ...effective.inputs });
  const issues = judgeInputs(policy, staged.inputs);
  if (issues.length === 0) return staged;
  await staged[Symbol.asyncDispose]();
  throw new HotcellError('policy_refused', `The policy ${policy.name} refuses these inputs: ${showIssues(issues)}`, {
    issues,
  });
}

/** A run without inputs is in no other run's way. */
async function holdInTurn(
  deps: StageDeps,
  spec: StagedSpec,
  options: Parameters<typeof holdAll>[2] & { waits?: () => void },
) {
  if (stagedOf(spec).length === 0) return { held: [], user: undefined };
  return await deps.inputs.turns.hold(() => holdAll(deps, spec, options), options);
}

/** Holds all inputs, or none. */
async function holdAll(
  { store, inputs }: StageDeps,
  spec: StagedSpec,
  { signal, verifyEachUse }: { signal?: AbortSignal; verifyEachUse?: boolean },
): Promise<{ name: string; tree: HeldTree }[]> {
  const { tenant } = spec;
  const settled = await Promise.allSettled(
    stagedOf(spec).map(async ({ name, snapshot, locations }) => {
      const load = () => locatedAt(store, tenant, snapshot, locations);
      return { name, tree: await inputs.hold(tenant, snapshot, load, { signal, verifyFirst: verifyEachUse ?? false }) };
    }),
  );
  const held = settled.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  const failed = settled.find((end) => end.status === 'rejected');
  if (!failed) return held;
  for (const { tree } of held) tree[Symbol.dispose]();
  throw failed.reason;
}

function layOut(places: Places, inputs: readonly { name: string }[], params: string): string {
  const folder = join(places.runs, randomUUID());
  try {
    mkdirSync(folder, { mode: 0o755 });
    for (const { name } of inputs) {
      mkdirSync(join(folder, name));
      makeReadOnly(join(folder, name), 0o555);
    }
    writeParams(folder, params);
    makeReadOnly(folder, 0o555);
    return folder;
  } catch (error) {
    removeFlatFolder(folder);
    throw fullDisk(error) ?? error;
  }
}

export function writeParams(folder: string, params: string): void {
  const file = join(folder, 'params.json');
  writeFileSync(file, params, { flag: 'wx' });
  makeReadOnly(file, 0o444);
}
