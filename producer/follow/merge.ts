/** Items of all sources as they come, until all have ended. If one fails, the others are ended. */
export async function* merge<T>(...sources: AsyncIterable<T>[]): AsyncGenerator<T> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  const pending = new Map<number, Promise<{ at: number; step: IteratorResult<T> }>>();
  const ask = (at: number) => {
    const iterator = iterators[at];
    if (iterator)
      pending.set(
        at,
        iterator.next().then((step) => ({ at, step })),
      );
  };
  iterators.forEach((_, at) => ask(at));
  try {
    while (pending.size > 0) {
      const { at, step } = await Promise.race(pending.values());
      pending.delete(at);
      if (step.done) continue;
      yield step.value;
      ask(at);
    }
  } finally {
    // A source in the middle of a wait ends by its own signal; it is not awaited here.
    for (const at of pending.keys()) iterators[at]?.return?.(undefined).catch(() => undefined);
    for (const one of pending.values()) one.catch(() => undefined);
  }
}
