import { cp, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { queueOf } from '@hotcell/contract/policy-queue.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { PolicyPins } from '@hotcell/producer/policies/pin.ts';
import { PolicyShelf } from '@hotcell/producer/policies/shelf.ts';
import { placesIn } from '@hotcell/setup/settings/installation.ts';
import type { Bed } from './bed.ts';
import { type Child, spawnNode } from './child.ts';
import type { House } from './house.ts';

const root = resolve(import.meta.dirname, '../..');

export interface RealRuns {
  queue: string;
  /** What a spec has to say to be run under this policy. */
  spec: Pick<Spec, 'policy' | 'image' | 'runtime' | 'priority'>;
}

/** A policy of the shelf, pinned in this house's record: what real cells are made by. */
export async function pinPolicy(bed: Bed, house: House, name: string): Promise<RealRuns> {
  const { imagesLock } = placesIn(bed.installation.home);
  const shelf = new PolicyShelf({ folder: join(root, 'policies'), imagesLock });
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

/** A worker as it runs in production: a process and a state folder of its own. */
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
  const more = {
    HOTCELL_STATE_DIR: stateDir,
    HOTCELL_WORKER_NAME: name,
    HOTCELL_QUEUES: 'runc',
    HOTCELL_LOG_LEVEL: 'info',
    HOTCELL_MEMORY_BYTES: String(8 * 1024 ** 3),
  };
  return spawnNode('executor-worker/main.ts', await house.settings('worker', { ...more, ...env }), [], under);
}
