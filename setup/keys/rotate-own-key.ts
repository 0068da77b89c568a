import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { forgetKey } from '@hotcell/record/signer.ts';
import type { SetupProgress } from '../progress.ts';
import { type ServiceName, stopService } from '../services/compose.ts';
import { workerNameHere } from '../services/worker-name.ts';
import { type Installation, placesIn } from '../settings/installation.ts';
import { withLock } from '../settings/installation-lock.ts';
import { ownRequests } from './list-own-keys.ts';

/** The processes of this machine that sign. */
export type OwnSigner = 'producer' | 'worker';

const serviceOf: Readonly<Record<OwnSigner, ServiceName>> = { producer: 'producer', worker: 'executor-worker' };

/** The key by which a service of this machine signs now. */
export async function ownKey({ home }: Pick<Installation, 'home'>, role: OwnSigner): Promise<Digest> {
  const own = (await ownRequests(home, workerNameHere())).find((request) => request.role === role);
  if (own) return own.fingerprint;
  throw new HotcellError('not_found', `The ${role} of this machine has no key yet. ./hotcell up starts it.`);
}

/**
 * Stops a service and takes its key away, so that it makes another at its next start. Returns since when the key signs no
 * more. What the service held goes on elsewhere, or when it is back: a worker hands its runs back, and a producer's are in
 * the record.
 */
export async function dropOwnKey(installation: Installation, role: OwnSigner, progress: SetupProgress): Promise<Date> {
  const { producerState, workerState, lock } = placesIn(installation.home);
  const of =
    role === 'producer' ? { state: producerState, name: 'producer' } : { state: workerState, name: workerNameHere() };
  return await withLock(lock, progress, async () => {
    await progress.step(`stopping the ${role}`, (say) => stopService(installation, serviceOf[role], say));
    const stopped = new Date();
    await forgetKey(of.state, role, of.name);
    return stopped;
  });
}
