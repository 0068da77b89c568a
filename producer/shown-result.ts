import { type Include, isFinished, type RunView } from '@hotcell/contract/api/runs.ts';
import { briefFacts } from '@hotcell/contract/posture-form.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { wholePosture } from '@hotcell/record/posture-store.ts';
import type { Producer } from './producer.ts';

/** A result as the API shows it: without what is bulky. Results of older versions have the whole posture in them. */
export function briefResult(result: Result): Result {
  const { posture } = result;
  return posture ? { ...result, posture: { ...posture, ...briefFacts(posture) } } : result;
}

/** The same, with what was asked for. */
async function shownResult(
  { store }: Pick<Producer, 'store'>,
  result: Result,
  include: readonly Include[],
): Promise<Result> {
  const { posture, tenant } = result;
  if (!posture || !include.includes('posture')) return briefResult(result);
  return { ...result, posture: await wholePosture(store, tenant, posture) };
}

export async function shownView(
  producer: Pick<Producer, 'store'>,
  view: RunView,
  include: readonly Include[] = [],
): Promise<RunView> {
  return isFinished(view) ? await shownResult(producer, view, include) : view;
}
