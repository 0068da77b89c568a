import type { Buckets } from './buckets.ts';
import { longBytes } from './long-work.ts';

/**
 * Works on whole objects of the record; `undefined` stands for one that is not there. Long ones are read one after the
 * other, when their turn has come: those that wait hold neither memory nor a connection.
 */
export async function withObjects<T>(
  store: Buckets,
  keys: readonly string[],
  work: (objects: readonly (Buffer | undefined)[], bytes: number) => Promise<T>,
): Promise<T> {
  const found = await Promise.all(keys.map((key) => store.getUpTo(longBytes, store.record, key)));
  const bytes = found.reduce((sum, one) => sum + (one?.size ?? 0), 0);
  const short = found.map((one) => one?.bytes);
  if (found.every((one) => !one || one.bytes)) return await work(short, bytes);
  return await store.inTurn.do(async () => {
    const read = async (key: string, i: number) => short[i] ?? (await store.getBytes(store.record, key));
    return await work(await Promise.all(keys.map(read)), bytes);
  });
}
