import { itemRequest } from '@hotcell/contract/batch-items.ts';
import { chunkItems, type ItemEnd } from '@hotcell/contract/batch.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { ask } from '../ask.ts';
import type { Caller } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import { dropItem, itemIn, type KnownBatch, openChunk, openRun, runOf } from './known-batch.ts';
import { writeProgress } from './batch-progress.ts';
import { endOf, settleWith } from './settle-items.ts';

/** So many are begun before other batches have their turn. */
const mostInTurn = 64;
const beginsAtOnce = 16;
const holdMs = 1_000;

interface Next {
  item: number;
  /** No leader has tried it. */
  untried: boolean;
}

/** Begins the next items, at most so many. What is full, or away, holds the batch up, and nothing fails of it. */
export async function beginItems(
  producer: Producer,
  known: KnownBatch,
  { most, caller, keep }: { most: number; caller: Caller; keep: () => Promise<void> },
): Promise<void> {
  const chosen = await nextItems(producer, known, Math.min(most, mostInTurn));
  const left: Next[] = [];
  let problem: HotcellError | undefined;
  await inLanes(beginsAtOnce, chosen, async (next) => {
    await keep();
    const failure = problem ?? (await beginItem(producer, known, caller, next));
    // One that was tried may have been accepted all the same.
    if (failure) left.push({ ...next, untried: next.untried && problem !== undefined });
    problem ??= failure;
  });
  const back = (untried: boolean) =>
    left.flatMap((one) => (one.untried === untried ? one.item : [])).sort((a, b) => a - b);
  known.unsure.unshift(...back(false));
  known.fresh.unshift(...back(true));
  if (problem) known.heldUntil = Date.now() + holdMs;
  known.problem = problem && { code: problem.code, message: problem.message };
}

/** It is written down which items may have been begun before any of them is. */
async function nextItems({ store }: Producer, known: KnownBatch, most: number): Promise<Next[]> {
  const chosen: Next[] = known.unsure.splice(0, most).map((item) => ({ item, untried: false }));
  while (chosen.length < most && (known.fresh.length > 0 || known.next < known.items)) {
    if (known.fresh.length === 0) {
      known.fresh = await openChunk(store, known, Math.floor(known.next / chunkItems));
      known.next = Math.min(known.items, known.next + chunkItems);
      if (known.fresh.length > 0) await writeProgress(store, known, Date.now());
      crashPoint('batch.begun');
      continue;
    }
    const items = known.fresh.splice(0, most - chosen.length);
    chosen.push(...items.map((item) => ({ item, untried: true })));
  }
  return chosen;
}

/** Answers why it can't be begun now. */
async function beginItem(
  producer: Producer,
  known: KnownBatch,
  caller: Caller,
  { item, untried }: Next,
): Promise<HotcellError | undefined> {
  const { value: head } = known.head;
  const run = runOf(known, item);
  const body = itemRequest(head, item, itemIn(known, item));
  // Its end may come before this is awaited.
  openRun(known, run, item);
  try {
    await ask(producer, { body, caller, given: { run, policy: head.policy.digest, untried } });
    dropItem(known, item);
    crashPoint('batch.item');
    return undefined;
  } catch (error) {
    known.open.delete(run);
    if (!(error instanceof HotcellError)) throw error;
    if (error.retryable) return error;
    await settleWith(producer, known, (await endOf(producer, known, item, run)) ?? refusedItem(known, item, error));
    return undefined;
  }
}

/** What no run could be made of, and no record was. */
function refusedItem({ round }: KnownBatch, item: number, { message }: HotcellError): ItemEnd {
  const none = { run: null, exitCode: null, result: null, outputs: null };
  return { item, round, ...none, outcome: 'rejected', reason: message.slice(0, 300) };
}
