import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Envelope } from '@hotcell/contract/evidence/dsse.ts';
import { type KeyRole, readKeyRequest } from '@hotcell/contract/evidence/key-list.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { putKeyList, type Requested, storedKeyList } from '@hotcell/record/stored-key-list.ts';
import { requestEnding, signingFolder } from '@hotcell/record/signer.ts';
import type { SetupProgress } from '../progress.ts';
import { type Installation, placesIn } from '../settings/installation.ts';
import { emptyList, withKeys } from './key-list-changes.ts';
import { ownRoot, trustedRoots } from './trusted-roots.ts';

/**
 * Lists the keys of the services on this machine. They are believed because their requests lie in these services' own
 * folders: what a process put into the record instead is listed only by the operator's word (`key sign-list`).
 */
export async function listOwnKeys(installation: Installation, progress: SetupProgress): Promise<void> {
  const root = await ownRoot(installation);
  const own = await ownRequests(installation);
  using store = new Buckets(installation.store);
  const before = await storedKeyList(store, await trustedRoots(installation));
  const known = new Set(before?.list.keys.map(({ fingerprint }) => fingerprint));
  const missing = own.filter(({ fingerprint }) => !known.has(fingerprint));
  if (missing.length === 0) return;
  if (!root)
    throw new HotcellError(
      'conflict',
      `The root's key is not on this machine, so these signing keys are not listed: ${missing.map(({ role, name, fingerprint }) => `${role} ${name} ${fingerprint}`).join(', ')}. List them with ./hotcell key sign-list where the root's key is.`,
    );
  await progress.step('listing the signing keys', async () =>
    putKeyList(store, root, withKeys(before?.list ?? emptyList(installation.id), missing, new Date()), before),
  );
}

async function ownRequests({ home }: Installation): Promise<Requested[]> {
  const { producerState, workerState } = placesIn(home);
  const [ofProducer, ofWorker] = await Promise.all([
    requestsIn(producerState, 'producer'),
    requestsIn(workerState, 'worker'),
  ]);
  return [...ofProducer, ...ofWorker];
}

/** A service's folder speaks for that service alone. */
async function requestsIn(stateDir: string, role: KeyRole): Promise<Requested[]> {
  const folder = signingFolder(stateDir);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const read = async (name: string) => {
    const path = join(folder, name);
    return readKeyRequest(parseJsonAs(Envelope, await readFile(path, 'utf8'), path));
  };
  const found = await Promise.all(names.filter((name) => name.endsWith(requestEnding)).map(read));
  return found.filter((request) => request.role === role);
}
