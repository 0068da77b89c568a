import { randomUUID } from 'node:crypto';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { type History, noHistory, readHistory } from './attempt-history.ts';
import type { Buckets } from './buckets.ts';
import { workKeys } from './layout.ts';
import { objects } from './objects.ts';
import type { Claim } from './schemas.ts';
import { has, isDamaged, putFirst } from './read-write.ts';

const tries = 5;

/**
 * Claim the next attempt. It is put if absent, so the number of claims is the number of attempts, whatever Valkey
 * remembers. Without a known history the first claim is tried, and the history is read only if that one is taken: the
 * usual run saves two requests. Answers the attempts before it as well.
 */
export async function claimNext(
  store: Buckets,
  { tenant, run }: { tenant: string; run: RunId },
  worker: string,
  known?: History,
): Promise<{ claim: Claim; history: History }> {
  let history = known ?? noHistory;
  for (let i = 0; i < tries; i++) {
    const startedAt = new Date().toISOString();
    const claim: Claim = { version: 1, run, attempt: history.next, worker, nonce: randomUUID(), startedAt };
    // One that stands there and cannot be read is another's.
    const stands = await putFirst(store, objects.claim, claim, run, claim.attempt).catch((error: unknown) => {
      if (!isDamaged(error)) throw error;
      return undefined;
    });
    // The nonce tells our own claim from another's, also when the answer to our put was lost.
    if (stands?.nonce === claim.nonce) return { claim, history };
    history = await readHistory(store, tenant, run);
  }
  throw new HotcellError(
    'conflict',
    `Other workers claimed run ${run} ${tries} times in a row. Recovery queues it again.`,
  );
}

/** Whether a later attempt than this one took the run over. */
export function isTakenOver(store: Buckets, run: RunId, attempt: number): Promise<boolean> {
  return has(store, objects.claim, run, attempt + 1);
}

export async function isClaimed(store: Buckets, run: RunId): Promise<boolean> {
  for await (const _ of store.list(store.work, workKeys.claims(run), { pageSize: 1 })) return true;
  return false;
}
