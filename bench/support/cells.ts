import { randomBytes } from 'node:crypto';
import { languages } from '@hotcell/contract/languages.ts';
import type { Limits } from '@hotcell/contract/limits.ts';
import type { Block } from '@hotcell/contract/spec.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import type { CellPlan } from '@hotcell/executor-worker/cell/cell-plan.ts';
import type { Job } from '@hotcell/executor-worker/execute/job.ts';
import { type Attached, type CreateOptions, Engine } from '@hotcell/outside/engine/engine.ts';
import { type Bed, engineSocket } from '../../test/support/bed.ts';
import { testLimits } from '../../test/support/limits.ts';

export const mib = 1024 * 1024;
export const runtimes = ['runc', 'gvisor'] as const;
export type Runtime = CellPlan['runtime'];

export const jobOf = (...blocks: Block[]): Job => prepareJob({ blocks, files: [] }, languages);

export const wide: Limits = {
  ...testLimits,
  graceSeconds: 1,
  memoryBytes: 3072 * mib,
  fileBytes: 1200 * mib,
  outputBytes: 1200 * mib,
  outputFiles: 25_000,
};

export const took = async (work: () => Promise<unknown>): Promise<number> => {
  const since = performance.now();
  await work();
  return performance.now() - since;
};

export interface Plain extends AsyncDisposable {
  id: string;
  attached: Attached;
  start(): Promise<void>;
  ended(): Promise<unknown>;
}

/** A container made by engine calls alone, for baselines. */
export async function plainContainer(
  bed: Bed,
  runtime: Runtime,
  command: readonly string[],
  options: CreateOptions = {},
): Promise<Plain> {
  const engine = new Engine(engineSocket);
  const id = await engine.create(`hotcell-bench-${randomBytes(6).toString('hex')}`, {
    Image: bed.images.python.digest,
    Entrypoint: [...command],
    Cmd: [],
    ...options,
    Labels: { 'hotcell.managed': '1', 'hotcell.installation': bed.installation.id, 'hotcell.role': 'test' },
    HostConfig: {
      NetworkMode: 'none',
      LogConfig: { Type: 'none', Config: {} },
      ...options.HostConfig,
      Runtime: runtime === 'gvisor' ? 'runsc' : 'runc',
    },
  });
  if (id === undefined) throw new Error('the name of a container was taken');
  const attached = await engine.attach(id);
  return {
    id,
    attached,
    start: () => engine.start(id),
    ended: () => engine.wait(id, 60_000),
    async [Symbol.asyncDispose]() {
      attached.close();
      await engine.remove(id);
    },
  };
}
