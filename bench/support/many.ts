/** Run all, this many at a time. */
export async function many(count: number, atOnce: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let i = next++; i < count; i = next++) await work(i);
    }),
  );
}

export async function secondsOf(work: () => Promise<void>): Promise<number> {
  const since = performance.now();
  await work();
  return (performance.now() - since) / 1000;
}
