/**
 * Works on so many items at once, in their order. The first failure ends all lanes and is thrown; with a signal, no item
 * begins after it aborts.
 */
export async function inLanes<T>(
  lanes: number,
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const queue = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let failed = false;
  const stopped = () => failed || signal?.aborted === true;
  const lane = async () => {
    for (let next = await queue.next(); !next.done && !stopped(); next = await queue.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  if (stopped()) await queue.return?.();
  const first = ends.find((end) => end.status === 'rejected');
  if (first) throw first.reason;
}
