import {
  type Erasure,
  erasedText,
  type Erased,
  judgeErasure,
  readErasure,
} from '@hotcell/contract/evidence/erasure.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Eraser } from '@hotcell/contract/evidence/root-succession.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Buckets } from './buckets.ts';
import { objects } from './objects.ts';
import { readMark } from './read-write.ts';

/** What the record says of a run's erasure. Whether a root signed it is for a verifier to say. */
async function findErasure(store: Buckets, tenant: string, run: RunId): Promise<Erasure | undefined> {
  const signed = await readMark(store, objects.erasure, () => undefined, tenant, run);
  return signed && readErasure(signed);
}

/**
 * The erasure that a root signed for this run, whose word counts. What is removed on its word cannot be brought back, so any
 * other counts as none: a service that was taken over may put objects into the record, and has no root's key.
 */
export async function erasureBy(
  store: Buckets,
  erasers: readonly Eraser[],
  result: Erased,
): Promise<Erasure | undefined> {
  const signed = await readMark(store, objects.erasure, () => undefined, result.tenant, result.run);
  const judged = signed && judgeErasure(signed, erasers, result);
  return judged && 'erasure' in judged ? judged.erasure : undefined;
}

/** In a sentence, if what the run left is gone or may go at any time. */
export async function whyErased(store: Buckets, tenant: string, run: RunId): Promise<string | undefined> {
  const erasure = await findErasure(store, tenant, run);
  return erasure && erasedText(erasure);
}

/**
 * Asked before anything that a run left is handed on: its outputs lie there until garbage is collected, and everything
 * else of it if its eraser died.
 */
export async function refuseErased(store: Buckets, tenant: string, run: RunId): Promise<void> {
  const why = await whyErased(store, tenant, run);
  if (why !== undefined) throw new HotcellError('erased', why);
}

/**
 * Something of a run is not there: says that it was erased, if it was. Answers the error that the caller would throw, also
 * where the record can't be asked: that error is true in any case.
 */
export async function erasedOr(store: Buckets, tenant: string, run: RunId, error: unknown): Promise<unknown> {
  const why = await whyErased(store, tenant, run).catch(() => undefined);
  return why === undefined ? error : new HotcellError('erased', why);
}
