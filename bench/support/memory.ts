/** The peak memory of this process during some work, and its memory before. */
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
