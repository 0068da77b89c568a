import { type Erasure, readErasure, signErasure } from '@hotcell/contract/evidence/erasure.ts';
import type { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import type { ListedVersion } from '@hotcell/outside/store/store-list.ts';
import type { Buckets } from './buckets.ts';
import { readResult } from './commit.ts';
import { recordKeys } from './layout.ts';
import { objects } from './objects.ts';
import { putFirst } from './read-write.ts';

export interface EraseAsked {
  tenant: string;
  run: RunId;
  by: string;
  reason: string;
}

/**
 * Removes the code and the logs of a run. The signed erasure is put first: a reader in between finds out why
 * something is not there, and an eraser that died is followed by the next one. Outputs go with the collector, which
 * counts them as needed by this run no more: it knows who else needs them.
 */
export async function eraseRun(store: Buckets, root: SigningKey, asked: EraseAsked): Promise<Erasure> {
  const { tenant, run } = asked;
  const result = await erasable(store, tenant, run);
  const doomed = await codeAndLogs(store, tenant, run);
  await refuseLocked(store, result, doomed);
  const erasure = await putErasure(store, root, asked, result);
  const refused = await store.deleteVersions(store.record, doomed);
  if (refused.length > 0)
    throw new HotcellError(
      'forbidden',
      `The store refuses to remove ${refused.map(({ key }) => key).join(', ')}. The erasure of ${run} is recorded: look at the locks and rights of the bucket, and erase it again.`,
    );
  return erasure;
}

async function erasable(store: Buckets, tenant: string, run: RunId): Promise<Result> {
  const result = await readResult(store, tenant, run);
  if (!result)
    throw new HotcellError(
      'conflict',
      `Run ${run} is not finished. Cancel it, or wait for its end, and erase it then.`,
    );
  if (result.spec === null)
    throw new HotcellError('invalid', `Run ${run} was refused: it has no code, log or outputs that could be erased.`);
  if (result.steps)
    throw new HotcellError(
      'invalid',
      `Run ${run} is a session. The code and the logs of its steps can't be erased yet, so nothing was removed.`,
    );
  if (!result.evidence)
    throw new HotcellError('invalid', `Run ${run} has no evidence that would keep the digests of what is erased.`);
  return result;
}

/** All versions, also those beneath a deletion. */
async function codeAndLogs(store: Buckets, tenant: string, run: RunId): Promise<ListedVersion[]> {
  const versions = await Array.fromAsync(store.listVersions(store.record, recordKeys.run(tenant, run)));
  const spec = recordKeys.spec(tenant, run);
  return versions.filter(({ key }) => key === spec || key.endsWith('/log.ndjson.zst'));
}

/** Before anything is recorded: an erasure that the store will refuse says nothing. */
async function refuseLocked(store: Buckets, { run }: Result, doomed: readonly ListedVersion[]): Promise<void> {
  const now = Date.now();
  for (const key of new Set(doomed.filter(({ isDeleteMarker }) => !isDeleteMarker).map((one) => one.key))) {
    const lock = await store.lockOn(store.record, key);
    if (lock && lock.until.getTime() > now)
      throw new HotcellError(
        'forbidden',
        `Run ${run} is kept until ${lock.until.toISOString()} by the retention of its policy (${lock.mode.toLowerCase()}). Erase it after that.`,
      );
  }
}

/** The first erasure stays, with who asked for it and why. */
async function putErasure(store: Buckets, root: SigningKey, asked: EraseAsked, { evidence }: Result): Promise<Erasure> {
  const { tenant, run, by, reason } = asked;
  const sha256 = evidence?.sha256;
  if (sha256 === undefined) throw new HotcellError('internal', `${run} has no evidence`);
  const erasure: Erasure = { version: 1, run, tenant, evidence: sha256, by, reason, at: new Date().toISOString() };
  return readErasure(await putFirst(store, objects.erasure, signErasure(root, erasure), tenant, run));
}
