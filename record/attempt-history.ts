import type { RunId } from '@hotcell/contract/names.ts';
import type { Attempt } from '@hotcell/contract/result.ts';
import type { Buckets } from './buckets.ts';
import { type AttemptPlace, workKeys } from './layout.ts';
import { objects } from './objects.ts';
import type { AttemptRecord, Claim } from './schemas.ts';
import { readMark } from './read-write.ts';

/** What was tried before, read from the buckets alone. */
export interface History {
  attempts: readonly Attempt[];
  /** Attempts that the platform failed; these are bounded. One that a worker handed back is not among them. */
  failed: number;
  /** Attempts that the program ended, where its submitter wanted another try. */
  ended: number;
  next: number;
}

export const noHistory: History = { attempts: [], failed: 0, ended: 0, next: 1 };

/** A worker of the previous version does not place it by its claim. */
async function recordOf(
  store: Buckets,
  tenant: string,
  { run, attempt, nonce: claim }: Claim,
): Promise<AttemptRecord | undefined> {
  const read = (place: AttemptPlace) => readMark(store, objects.attempt, () => undefined, tenant, run, place);
  return (claim ? await read({ attempt, claim }) : undefined) ?? (await read({ attempt }));
}

export async function readHistory(store: Buckets, tenant: string, run: RunId): Promise<History> {
  const claims: Claim[] = [];
  for await (const { key } of store.list(store.work, workKeys.claims(run))) {
    const claim = await readClaim(store, run, Number(key.slice(key.lastIndexOf('/') + 1)));
    if (claim) claims.push(claim);
  }
  const records = await Promise.all(claims.map((claim) => recordOf(store, tenant, claim)));
  return historyOf(claims, records);
}

/** One that cannot be read is an attempt of a worker that is not known. */
async function readClaim(store: Buckets, run: RunId, attempt: number): Promise<Claim | undefined> {
  const instead = ({ modified }: { modified: Date }): Claim => ({
    version: 1,
    run,
    attempt,
    worker: 'unknown',
    nonce: '',
    startedAt: modified.toISOString(),
  });
  return Number.isInteger(attempt) ? readMark(store, objects.claim, instead, run, attempt) : undefined;
}

export function historyOf(claims: readonly Claim[], records: readonly (AttemptRecord | undefined)[]): History {
  const attempts = claims.map((claim, i) => attemptOf(claim, records[i]));
  const last = Math.max(0, ...claims.map((claim) => claim.attempt));
  return {
    attempts,
    failed: records.filter((record) => !record?.handedBack && !record?.outcome).length,
    ended: records.filter((record) => record?.outcome).length,
    next: last + 1,
  };
}

function attemptOf({ attempt, worker, nonce, startedAt }: Claim, record: AttemptRecord | undefined): Attempt {
  const about = { attempt, worker, ...(nonce ? { claim: nonce } : {}), startedAt };
  if (record) {
    const { finishedAt, error, outcome, evidence } = record;
    const signed = evidence ? { evidence: evidence.sha256 } : {};
    return { ...about, finishedAt, ...(outcome ? { outcome } : {}), error, ...signed };
  }
  const message = `Worker ${worker} died or lost its connection while it had the run.`;
  return { ...about, finishedAt: null, error: { code: 'worker_gone', message } };
}
