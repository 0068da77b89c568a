import { randomUUID } from 'node:crypto';
import { canonical } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { workKeys } from '@hotcell/record/layout.ts';
import { Claim } from '@hotcell/record/schemas.ts';
import type { TicketBody } from '@hotcell/contract/ticket.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { type History, noHistory, readHistory } from './history.ts';

export interface Claimed {
  claim: Claim;
  /** What came before this attempt. */
  history: History;
}

const tries = 5;

/**
 * The next attempt, put if absent: the number of claims is the number of attempts, whatever Valkey remembers. A ticket
 * that is taken for the first time tries the first claim and asks only if it is gone, which costs the usual run nothing.
 */
export async function claimNext(
  store: Buckets,
  ticket: TicketBody,
  worker: string,
  known: History | undefined,
): Promise<Claimed> {
  const { tenant, run } = ticket;
  let history = known ?? noHistory;
  for (let i = 0; i < tries; i++) {
    const claim: Claim = {
      version: 1,
      run,
      attempt: history.next,
      worker,
      nonce: randomUUID(),
      startedAt: new Date().toISOString(),
    };
    const key = workKeys.claim(run, claim.attempt);
    if (await store.putIfAbsent(store.work, key, canonical(claim))) return { claim, history };
    // Our own put, whose answer was lost, left our own nonce there.
    const there = await store.getJson(Claim, store.work, key);
    if (there?.nonce === claim.nonce) return { claim, history };
    history = await readHistory(store, tenant, run);
  }
  throw new HotcellError('conflict', `others claimed the run ${run} ${tries} times in a row`);
}
