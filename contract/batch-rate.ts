import type { BatchProgress } from './batch.ts';

const mostSamples = 20;
const sampleEveryMs = 3_000;

/** How many had ended at some moments of the last minute. */
export function sampled(samples: BatchProgress['samples'], ended: number, now: number): BatchProgress['samples'] {
  const last = samples.at(-1);
  if (last && now - Date.parse(last.at) < sampleEveryMs) return samples;
  return [...samples, { at: new Date(now).toISOString(), ended }].slice(-mostSamples);
}

/** How many end in a second, as of late; undefined as long as that can't be said. */
export function rateOf(samples: BatchProgress['samples'], ended: number, at: number): number | undefined {
  const [first] = samples;
  if (!first) return undefined;
  const seconds = (at - Date.parse(first.at)) / 1000;
  return seconds > 0 ? Math.max(0, ended - first.ended) / seconds : undefined;
}

/** When the last one will have ended, if it goes on like this. */
export function estimateOf(rate: number | undefined, left: number, now: number): string | null {
  if (rate === undefined || rate <= 0) return null;
  const ms = now + (left / rate) * 1000;
  // What lies beyond all dates is no estimate.
  return ms < 8.64e15 ? new Date(ms).toISOString() : null;
}
