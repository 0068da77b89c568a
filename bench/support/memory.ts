/** The most memory that this process had while something was done, and how much of it was there before. */
export async function peakMemory(work: () => Promise<unknown>): Promise<{ before: number; peak: number }> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 20);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return { before, peak: Math.max(peak, process.memoryUsage.rss()) };
}
