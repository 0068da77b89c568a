import { queueOf } from '@hotcell/contract/policy.ts';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Spec } from '@hotcell/contract/spec.ts';
import { PolicyPins } from '@hotcell/producer/policies/pin.ts';
import { PolicyShelf } from '@hotcell/producer/policies/shelf.ts';
import { placesIn } from '@hotcell/setup/settings/installation.ts';
import type { Bed } from './bed.ts';
import { type Child, spawnNode } from './child.ts';
import type { House } from './house.ts';
import { openOwnKeeper, type OwnKeeper } from './own-keeper.ts';

const root = resolve(import.meta.dirname, '../..');

export interface RealRuns {
  queue: string;
  /** The fields of a spec for this policy. */
  spec: Pick<Spec, 'policy' | 'image' | 'runtime' | 'priority'>;
}

/** Pins a policy of the shelf, or of a test's own folder, in this house's record: real cells need one. */
export async function pinPolicy(
  bed: Bed,
  house: House,
  name: string,
  folder: string = join(root, 'policies'),
): Promise<RealRuns> {
  const { imagesLock } = placesIn(bed.installation.home);
  const shelf = new PolicyShelf({ folder, imagesLock });
  using pins = new PolicyPins(house.producer.store, { imagesLock });
  const loaded = shelf.get(name);
  await pins.pin(loaded);
  const { policy, digest } = loaded;
  const [image] = policy.images;
  if (!image) throw new Error(`the policy ${name} has no image`);
  return {
    queue: queueOf(policy),
    spec: {
      policy: { name: policy.name, digest },
      image: { ref: image.ref, digest: image.digest },
      runtime: policy.runtime,
      priority: policy.priority.default,
    },
  };
}

/** A policy for runs of one tiny program, which start quickly on any engine. */
export async function pinSmallest(bed: Bed, house: House): Promise<RealRuns> {
  const folder = await bed.folder('policies');
  const inputs = 'inputs: { count: 4, bytes: 1GiB, files: 1000 }';
  const lines = [
    'description: one program',
    'runtime: runc',
    'images: [minimal]',
    'languages: []',
    'argv: true',
    inputs,
  ];
  await writeFile(join(folder, 'smallest.yaml'), `${lines.join('\n')}\n`);
  return pinPolicy(bed, house, 'smallest', folder);
}

/** A request for a run of that program. */
export function smallest(real: RealRuns, argv: readonly string[], more: Partial<Spec> = {}) {
  return { spec: { ...real.spec, blocks: [{ argv: ['/bin/minimal', ...argv] }], ...more }, queue: real.queue };
}

/** Reads from its own output pipe, so it never ends. */
export const holds = ['cat', '/proc/self/fd/1'];

/**
 * A worker process as in production, with a state folder and, unless the test names an engine, a keeper of its own, which
 * ends with the worker.
 */
export async function spawnWorker(
  bed: Bed,
  house: House,
  name: string,
  env: Readonly<Record<string, string>> = {},
  under: readonly string[] = [],
): Promise<Child> {
  const stateDir = env['HOTCELL_STATE_DIR'] ?? (await bed.folder(name));
  await mkdir(join(stateDir, 'init'), { recursive: true });
  await cp(bed.initFolder, join(stateDir, 'init'), { recursive: true });
  const byEngine = env['HOTCELL_DOCKER_HOST'] !== undefined || env['HOTCELL_CELLS'] !== undefined;
  const keeper = byEngine ? undefined : await openOwnKeeper(bed, join(stateDir, 'cache'), house.id);
  const more = {
    ...(keeper && { HOTCELL_CELLS: 'keeper', HOTCELL_KEEPER_SOCKET: keeper.socket }),
    HOTCELL_STATE_DIR: stateDir,
    HOTCELL_WORKER_NAME: name,
    HOTCELL_QUEUES: 'runc',
    HOTCELL_LOG_LEVEL: 'info',
    HOTCELL_MEMORY_BYTES: String(8 * 1024 ** 3),
  };
  const settings = await house.settings('worker', { ...more, ...env });
  const worker = spawnNode('executor-worker/worker-main.ts', settings, [], under);
  return keeper === undefined ? worker : withKeeper(worker, keeper);
}

/** The keeper goes when the worker has ended, and a caller that waits for that waits for both. */
function withKeeper(worker: Child, keeper: OwnKeeper): Child {
  const ended = worker.ended.then(async (how) => {
    await keeper[Symbol.asyncDispose]();
    return how;
  });
  return {
    ...worker,
    ended,
    async stop() {
      worker.kill('SIGTERM');
      await ended;
    },
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
      await ended;
    },
  };
}
