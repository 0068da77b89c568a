import type { Rebuilt } from '@hotcell/contract/api/workers.ts';
import type { Producer } from './producer.ts';
import { compareAll, fillFromRecord } from './readmodel/fill.ts';

/** Tickets of all open runs, and the lists, from the buckets alone. */
export async function rebuild(producer: Producer, signal: AbortSignal): Promise<Rebuilt> {
  await producer.reconciler.sweepAll();
  const work = { store: producer.store, model: producer.model, signal };
  producer.model.empty();
  const runs = await fillFromRecord(work);
  await compareAll(work);
  return { runs };
}
