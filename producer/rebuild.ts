import type { Parts } from './producer-parts.ts';
import { compareAll, fillFromRecord } from './readmodel/fill.ts';

export interface Rebuilt {
  /** How many runs the record has. */
  runs: number;
}

/** Tickets of what is open, and lists of what there is, from the buckets alone. */
export async function rebuild(parts: Parts, signal: AbortSignal): Promise<Rebuilt> {
  await parts.reconciler.sweepAll();
  const work = { store: parts.store, model: parts.model, signal };
  parts.model.empty();
  const runs = await fillFromRecord(work);
  await compareAll(work);
  return { runs };
}
