import { z } from 'zod';
import { dayMs } from './day-length.ts';

/** What takes room in the buckets, in the order in which it is shown. `other`: policies, names, keys, schedules. */
export const diskKinds = [
  'specs',
  'results',
  'logs',
  'attempts',
  'evidence',
  'postures',
  'contents',
  'snapshots',
  'other',
  'work',
] as const;
export type DiskKind = (typeof diskKinds)[number];

const KindUse = z.strictObject({
  kind: z.string(),
  objects: z.number().int().min(0),
  bytes: z.number().int().min(0),
});
type KindUse = z.infer<typeof KindUse>;

/** What was in the buckets at one time. */
export const DiskSample = z.strictObject({ at: z.iso.datetime(), kinds: z.array(KindUse) });
export type DiskSample = z.infer<typeof DiskSample>;

/** The newest sample and one of each day before it, the oldest first. */
export const DiskSamples = z.strictObject({ version: z.literal(1), samples: z.array(DiskSample) });
export type DiskSamples = z.infer<typeof DiskSamples>;

const mostSamples = 32;
/** Growth is told over so many days, and not of so little time that one run decides it. */
const growthDays = 7;
const leastMs = 3_600_000;

/** Adds a sample. Of each day the first one stays, and the newest of all. */
export function withSample(samples: readonly DiskSample[], sample: DiskSample): DiskSample[] {
  const days = new Map<string, DiskSample>();
  for (const one of samples) {
    const day = one.at.slice(0, 10);
    if (!days.has(day)) days.set(day, one);
  }
  return [...days.values(), sample].slice(-mostSamples);
}

export interface DiskUse {
  /** Null until the first measurement is done. */
  measuredAt: string | null;
  kinds: (KindUse & { bytesPerDay: number | null })[];
}

/** What there is now, and how fast it grew since the oldest sample of the last seven days. */
export function diskUse(samples: readonly DiskSample[]): DiskUse {
  const now = samples.at(-1);
  if (!now) return { measuredAt: null, kinds: [] };
  const before = samples.find(({ at }) => Date.parse(now.at) - Date.parse(at) <= growthDays * dayMs);
  const days = before ? (Date.parse(now.at) - Date.parse(before.at)) / dayMs : 0;
  const known = before !== undefined && days * dayMs >= leastMs;
  const bytesBefore = new Map(before?.kinds.map(({ kind, bytes }) => [kind, bytes]));
  return {
    measuredAt: now.at,
    kinds: now.kinds.map((use) => ({
      ...use,
      bytesPerDay: known ? Math.round((use.bytes - (bytesBefore.get(use.kind) ?? 0)) / days) : null,
    })),
  };
}
