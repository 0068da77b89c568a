import { canonical, type Digest } from '@hotcell/contract/digest.ts';
import { type Erasure, signErasure } from '@hotcell/contract/evidence/erasure.ts';
import type { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import type { ListedVersion } from '@hotcell/outside/store/store-list.ts';
import type { Buckets } from './buckets.ts';
import { readResult } from './commit.ts';
import { recordKeys } from './layout.ts';
import { isErasedFrom } from './erased-keys.ts';
import { erasureBy } from './erasures.ts';
import { verifiedResult } from './verified-result.ts';
import { StoreReader } from './verify/store-reader.ts';
import type { TrustedKeys } from './verify/trusted-keys.ts';

const mostTries = 3;
/** A session has many. */
const removedAtOnce = 1000;
const json = { contentType: 'application/json' } as const;

export interface EraseDeps {
  store: Buckets;
  /** Signs the erasure. */
  root: SigningKey;
  /** What a verifier goes by who trusts this installation's root. */
  trusted: TrustedKeys;
}

export interface EraseAsked {
  tenant: string;
  run: RunId;
  by: string;
  reason: string;
  /** Is asked about the result that was verified: an earlier answer may be about another one. */
  isWanted?: (result: Result) => boolean;
}

/**
 * Removes the code and the logs of a run that verifies, and for a session everything that its steps left. The signed
 * erasure is put first: a reader in between learns why something is missing, and the next eraser finishes what a dead one
 * began. The collector removes the outputs, because it knows which other objects need them.
 */
export async function eraseRun(deps: EraseDeps, asked: EraseAsked): Promise<Erasure> {
  const { store, trusted } = deps;
  const { tenant, run } = asked;
  refuseStranger(deps);
  if (!(await readResult(store, tenant, run)))
    throw new HotcellError(
      'conflict',
      `Run ${run} is not finished. Cancel it, or wait for its end, and erase it then.`,
    );
  // Everything below goes by the result that was verified: what is read again may be another one.
  const result = await verifiedResult(new StoreReader(store), trusted, { tenant, run });
  const evidence = requireEvidence(result);
  if (asked.isWanted?.(result) === false)
    throw new HotcellError('conflict', `Run ${run} is not as it was when it was looked at, so nothing was removed.`);
  const { spec, rest } = await codeAndLogs(store, tenant, run);
  await refuseLocked(store, result, [...rest, ...spec]);
  const erasure = await putErasure(deps, asked, { ...result, evidence });
  crashPoint('erase.recorded');
  const unfinished = `: the erasure of run ${run} is recorded, but not carried out to the end`;
  await removeVersions(store, rest, unfinished);
  crashPoint('erase.removed');
  // The last, in a call of its own: a run that has one is not erased to the end.
  await removeVersions(store, spec, unfinished);
  return erasure;
}

/** No verifier of this record trusts another key: it would report what such an erasure removed as missing. */
export function refuseStranger({ root, trusted }: EraseDeps): void {
  const { fingerprint } = trusted.root;
  if (root.fingerprint === fingerprint) return;
  throw new HotcellError(
    'invalid',
    `The key ${root.fingerprint} is not the root of this installation: ${fingerprint} signed its list of keys, and no verifier would believe what another key erases. Nothing was removed. Give the root's own key with --root FILE.`,
  );
}

/** Of the statement that keeps the digests of what is erased. */
function requireEvidence({ run, spec, evidence }: Result): { sha256: Digest } {
  if (spec === null)
    throw new HotcellError('invalid', `Run ${run} was refused: it has no code, log or outputs that could be erased.`);
  if (evidence) return evidence;
  throw new HotcellError('internal', `Run ${run} was verified, and has no evidence.`);
}

/** All versions, also those beneath a deletion. */
async function codeAndLogs(
  store: Buckets,
  tenant: string,
  run: RunId,
): Promise<{ spec: ListedVersion[]; rest: ListedVersion[] }> {
  const versions = await Array.fromAsync(store.listVersions(store.record, recordKeys.run(tenant, run)));
  const doomed = versions.filter(({ key }) => isErasedFrom({ tenant, run }, key));
  const isSpec = ({ key }: ListedVersion) => key === recordKeys.spec(tenant, run);
  return { spec: doomed.filter(isSpec), rest: doomed.filter((version) => !isSpec(version)) };
}

/** Looks before the erasure is recorded: one that the store then refuses would say what isn't so. */
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

type Ended = Parameters<typeof erasureBy>[2] & { evidence: { sha256: Digest } };

/**
 * The first erasure that counts stays, with who asked for it and why. One that doesn't count is a stranger's: it is
 * removed, because it would prevent every other.
 */
async function putErasure({ store, root, trusted }: EraseDeps, asked: EraseAsked, ended: Ended): Promise<Erasure> {
  const { tenant, run, by, reason } = asked;
  const key = recordKeys.erasure(tenant, run);
  const evidence = ended.evidence.sha256;
  for (let tries = 0; tries < mostTries; tries++) {
    const erasure: Erasure = { version: 1, run, tenant, evidence, by, reason, at: new Date().toISOString() };
    if (await store.putIfAbsent(store.record, key, canonical(signErasure(root, erasure)), json)) return erasure;
    const first = await erasureBy(store, trusted.erasers, ended);
    if (first) return first;
    const strangers = await Array.fromAsync(store.listVersions(store.record, key));
    await removeVersions(store, strangers, ', an erasure that no trusted root signed for this run');
  }
  throw new HotcellError('conflict', `Another process keeps writing ${key}. Stop it, then erase run ${run} again.`);
}

async function removeVersions(store: Buckets, versions: readonly ListedVersion[], what: string): Promise<void> {
  for (let from = 0; from < versions.length; from += removedAtOnce) {
    const refused = await store.deleteVersions(store.record, versions.slice(from, from + removedAtOnce));
    if (refused.length === 0) continue;
    const [first] = refused;
    const more = refused.length > 1 ? ` and ${refused.length - 1} more` : '';
    throw new HotcellError(
      'forbidden',
      `The store refuses to remove ${first?.key}${more}${what}. Check the locks and rights of the bucket, then run the erasure again.`,
    );
  }
}
