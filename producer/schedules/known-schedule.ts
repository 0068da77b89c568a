import type { ScheduleHead } from '@hotcell/contract/schedule.ts';
import { readOpenMarker } from '@hotcell/record/run-marks.ts';
import type { StoredHead } from '@hotcell/record/schedule-records.ts';
import { readTick, tickNames } from '@hotcell/record/tick-records.ts';
import type { Producer } from '../producer.ts';
import { readBook, type TickBook, type TickSource } from './tick-book.ts';

/** A schedule as its leader knows it. What it knows may be older than the record: then a write fails, and it reads again. */
export interface Known {
  head: StoredHead;
  book: TickBook;
}

export async function know(producer: Producer, head: StoredHead): Promise<Known> {
  return { head, book: await readBook(head.value, ticksIn(producer, head.value)) };
}

export function ticksIn({ store, news }: Pick<Producer, 'store' | 'news'>, head: ScheduleHead): TickSource {
  return {
    names: () => tickNames(store, head),
    read: (name) => readTick(store, head, name),
    stateOf: async (run) => {
      const result = await news.resultOf(head.tenant, run);
      if (result) return result.outcome;
      if (await readOpenMarker(store, head.tenant, run)) return 'open';
      // It may have ended, and its marker been removed, between the two reads.
      return (await news.resultOf(head.tenant, run))?.outcome;
    },
  };
}
