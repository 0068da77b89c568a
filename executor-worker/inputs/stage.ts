import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { canonical } from '@hotcell/contract/digest.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { locatedAt } from '@hotcell/record/snapshot-store.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { HeldTree, InputCache } from './cache.ts';
import { fullDisk } from './full-disk.ts';
import type { Places } from './places.ts';
import { seal } from './tree.ts';
import type { Mount, StagedInputs } from '../hand-offs.ts';

export interface StageDeps {
  store: Buckets;
  inputs: InputCache;
}

/**
 * Present what a run was pinned to: /inputs with the parameters and one place per input, and on each place its tree. No
 * more is ever there, also not what an image brought along under that name.
 */
export async function stageInputs(
  deps: StageDeps,
  spec: Pick<Spec, 'tenant' | 'inputs' | 'params'>,
  options: { signal?: AbortSignal; verifyEachUse?: boolean } = {},
): Promise<StagedInputs> {
  const held = await holdAll(deps, spec, options);
  let folder: string;
  try {
    folder = layOut(deps.inputs.places, spec);
    crashPoint('inputs-laid-out');
  } catch (error) {
    for (const { tree } of held) tree[Symbol.dispose]();
    throw error;
  }
  const trees: Mount[] = held.map(({ name, tree }) => ({ source: tree.path, target: `/inputs/${name}` }));
  return {
    mounts: [{ source: folder, target: '/inputs' }, ...trees],
    inputs: held.map(({ name, tree: { files, bytes } }) => ({ name, files, bytes })),
    [Symbol.asyncDispose]: async () => {
      for (const { tree } of held) tree[Symbol.dispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** All of them, or none is held. */
export async function holdAll(
  { store, inputs }: StageDeps,
  { tenant, inputs: asked }: Pick<Spec, 'tenant' | 'inputs'>,
  { signal, verifyEachUse }: { signal?: AbortSignal; verifyEachUse?: boolean },
): Promise<{ name: string; tree: HeldTree }[]> {
  const settled = await Promise.allSettled(
    asked.map(async ({ name, snapshot, locations }) => {
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

function layOut(places: Places, { inputs, params }: Pick<Spec, 'inputs' | 'params'>): string {
  const folder = join(places.runs, randomUUID());
  try {
    mkdirSync(folder, { mode: 0o755 });
    for (const { name } of inputs) {
      mkdirSync(join(folder, name));
      seal(join(folder, name), 0o555);
    }
    writeParams(folder, params);
    seal(folder, 0o555);
    return folder;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw fullDisk(error) ?? error;
  }
}

export function writeParams(folder: string, params: Spec['params']): void {
  const file = join(folder, 'params.json');
  writeFileSync(file, canonical(params), { flag: 'wx' });
  seal(file, 0o444);
}
