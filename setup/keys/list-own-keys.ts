import { Envelope } from '@hotcell/contract/evidence/dsse.ts';
import { type KeyList, type KeyRole, readKeyRequest } from '@hotcell/contract/evidence/key-list.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { putKeyList, type Requested, storedKeyList } from '@hotcell/record/stored-key-list.ts';
import { requestPath } from '@hotcell/record/signer.ts';
import type { SetupProgress } from '../progress.ts';
import { workerNameHere } from '../services/worker-name.ts';
import { textIfThere } from '../settings/config-file.ts';
import { type Installation, placesIn } from '../settings/installation.ts';
import { emptyList, withKeys } from './key-list-changes.ts';
import { ownRoot, trustedRoots } from './trusted-roots.ts';

/**
 * Lists the keys of the services on this machine. They are believed because their requests lie in these services' own
 * folders, under these services' own roles and names: what a process put into the record instead is listed only by the
 * operator's word (`key sign-list`).
 */
export async function listOwnKeys(installation: Installation, progress: SetupProgress): Promise<void> {
  const root = await ownRoot(installation);
  const own = await ownRequests(installation.home, workerNameHere());
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
  const asked = notBefore(before?.list, missing);
  await progress.step('listing the signing keys', async () =>
    putKeyList(store, root, withKeys(before?.list ?? emptyList(installation.id), asked, new Date()), before),
  );
}

/** A folder speaks for its own service alone: one that is taken over can't ask in another's role or name. */
export async function ownRequests(home: string, worker: string): Promise<Requested[]> {
  const { producerState, workerState } = placesIn(home);
  const asked = await Promise.all([
    requestIn(producerState, 'producer', 'producer'),
    requestIn(workerState, 'worker', worker),
  ]);
  return asked.filter((request) => request !== undefined);
}

async function requestIn(stateDir: string, role: KeyRole, name: string): Promise<Requested | undefined> {
  const path = requestPath(stateDir, role, name);
  const text = await textIfThere(path);
  if (text === undefined) return undefined;
  const request = readKeyRequest(parseJsonAs(Envelope, text, path));
  if (request.role === role && request.name === name) return request;
  throw new HotcellError(
    'conflict',
    `${path} asks for a key of ${request.role} ${request.name} instead of ${role} ${name}, so no key is listed. Find out what wrote it, and remove it.`,
  );
}

/**
 * A service that is taken over can give its key any age, and would sign into the past. A service that is new on the
 * list began after the list before it was issued: what it signed while `up` started it still counts.
 */
export function notBefore(list: KeyList | undefined, requests: readonly Requested[]): Requested[] {
  if (!list) return [...requests];
  const isEarly = ({ madeAt }: Requested) => Date.parse(madeAt) < Date.parse(list.issuedAt);
  return requests.map((request) => (isEarly(request) ? { ...request, madeAt: list.issuedAt } : request));
}
