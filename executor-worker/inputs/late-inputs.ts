import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Spec } from '@hotcell/contract/spec.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { MovedTree } from './spares.ts';
import { makeReadOnly } from './tree.ts';
import type { Mount } from '../cell/cell-plan.ts';
import type { StagedInputs } from './stage.ts';
import { holdAll, type StageDeps, writeParams } from './stage.ts';

/** A cell's own `/inputs`, still empty: the cell starts with it before its run is known. */
export interface LateInputs extends AsyncDisposable {
  readonly mounts: readonly Mount[];
  /**
   * Moves the run's inputs in by renames: quick whatever they hold, if enough copies of each tree were prepared. To be
   * called once, before the code is handed over; if it fails the cell can't be used.
   */
  fill(
    spec: Pick<Spec, 'tenant' | 'inputs' | 'params'>,
    options?: { signal?: AbortSignal; verifyEachUse?: boolean },
  ): Promise<StagedInputs['inputs']>;
}

/**
 * Dispose of it when the cell is gone. It lies below the cache, since a rename stays within one mount and its flags.
 * @internal No run uses it yet: it is for waiting cells.
 */
export function openLateInputs(deps: StageDeps): LateInputs {
  const folder = join(deps.inputs.places.runs, randomUUID());
  mkdirSync(folder, { mode: 0o755 });
  makeReadOnly(folder, 0o555);
  const moved: MovedTree[] = [];
  let held: Awaited<ReturnType<typeof holdAll>> = [];
  return {
    mounts: [{ source: folder, target: '/inputs' }],
    async fill(spec, options = {}) {
      held = await holdAll(deps, spec, options);
      chmodSync(folder, 0o755);
      for (const { name, tree } of held) moved.push(await tree.moveTo(join(folder, name)));
      writeParams(folder, spec.params);
      makeReadOnly(folder, 0o555);
      crashPoint('inputs-moved');
      return held.map(({ name, tree: { files, bytes } }) => ({ name, files, bytes }));
    },
    async [Symbol.asyncDispose]() {
      chmodSync(folder, 0o755);
      for (const tree of moved) await tree.release();
      for (const { tree } of held) tree[Symbol.dispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
