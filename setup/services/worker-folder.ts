import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { must } from '../command.ts';
import type { SetupProgress } from '../progress.ts';
import { signingFolder } from '@hotcell/record/signer.ts';
import { type Installation, placesIn } from '../settings/installation.ts';
import { stopService } from './compose.ts';
import { workerUser } from './files.ts';
import { stagedInputs } from './flagged-view.ts';

/**
 * The folders that the worker writes in belong to its user: staged inputs, its signing key, and the classes of pinned
 * policies. Where the engine makes the cells the worker is root and needs no folder of its own; when the keeper takes over,
 * what the worker left as root becomes its new user's.
 */
export async function ensureWorkerFolders(installation: Installation, progress: SetupProgress): Promise<void> {
  const signing = signingFolder(placesIn(installation.home).workerState);
  const staged = stagedInputs(installation);
  await mkdir(staged, { recursive: true, mode: 0o711 });
  await mkdir(signing, { recursive: true, mode: 0o755 });
  if (installation.cells === 'engine') return;
  // The worker's user can make no folder beside them.
  const pinned = join(placesIn(installation.home).workerState, 'pinned');
  await mkdir(pinned, { recursive: true, mode: 0o700 });
  for (const path of [staged, signing, pinned]) await handOver(installation, path, progress);
}

async function handOver(installation: Installation, path: string, progress: SetupProgress): Promise<void> {
  const { uid, gid } = workerUser();
  // A worker makes some of these anew when it starts, so they tell whose the last one was.
  const tops = [path, ...(await readdir(path)).map((name) => join(path, name))];
  const owners = await Promise.all(tops.map(async (top) => (await lstat(top)).uid));
  if (owners.every((owner) => owner === uid)) return;
  if (process.getuid?.() !== 0) {
    const message = `${path} belongs to another user than the worker. Run \`sudo chown -R ${uid}:${gid} ${path}\`, and then this command again.`;
    throw new HotcellError('forbidden', message);
  }
  // A worker that still runs as root would go on making files of root's.
  await progress.step('stopping the worker', (say) => stopService(installation, 'executor-worker', say));
  // The folders above last: an interrupted change is made again.
  await must(['find', path, '-depth', '-exec', 'chown', '--no-dereference', `${uid}:${gid}`, '{}', '+']);
}
