import { type BatchHead, type BatchItem, chunkItems, mostItemBytes, mostItems } from '@hotcell/contract/batch.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { exactBytes } from '@hotcell/contract/sizes.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { putChunk } from '@hotcell/record/batch-records.ts';
import type { Producer } from '../producer.ts';
import { itemsOf } from './item-sources.ts';

/**
 * Writes the items down, a chunk after the other, and answers how many they are. What a leader wrote before it died is
 * the same and stays.
 */
export async function writeItems(producer: Producer, head: BatchHead, keep: () => Promise<void>): Promise<number> {
  let [items, chunk]: [BatchItem[], number] = [[], 0];
  let count = 0;
  const flush = async () => {
    await keep();
    await putChunk(producer.store, head, chunk, items);
    crashPoint('batch.chunk');
    chunk += 1;
    items = [];
  };
  for await (const item of itemsOf(producer, head)) {
    count += 1;
    if (count > mostItems)
      throw new HotcellError('invalid', `A batch has at most ${mostItems} items. Make several batches.`);
    items.push(fitting(item, count - 1));
    if (items.length === chunkItems) await flush();
  }
  if (items.length > 0) await flush();
  if (count === 0) throw new HotcellError('invalid', 'There is nothing to run over: the source has no items.');
  return count;
}

/** A partition of very many files names none of them: its runs find them by its folder. */
function fitting(item: BatchItem, number: number): BatchItem {
  if (JSON.stringify(item).length <= mostItemBytes) return item;
  const partition = item.told?.['partition'];
  if (typeof partition === 'object' && partition !== null && 'files' in partition) {
    const { files: _, ...rest } = partition;
    return fitting({ told: { partition: rest } }, number);
  }
  throw new HotcellError(
    'invalid',
    `Item ${number} takes more than ${exactBytes(mostItemBytes)}. Pass a file instead.`,
  );
}
