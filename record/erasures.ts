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

/** Before a long answer begins, in which it could be said no more. */
export async function refuseErased(store: Buckets, tenant: string, run: RunId): Promise<void> {
  const erasure = await findErasure(store, tenant, run);
  if (erasure) throw new HotcellError('erased', erasedText(erasure));
}

/** Something of a run is not there: says that it was erased, if it was. Answers the error that the caller would throw. */
export async function erasedOr(store: Buckets, tenant: string, run: RunId, error: unknown): Promise<unknown> {
  const erasure = await findErasure(store, tenant, run).catch(() => undefined);
  return erasure ? new HotcellError('erased', erasedText(erasure)) : error;
}
