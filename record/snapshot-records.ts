import { z } from 'zod';
import { Digest } from '@hotcell/contract/digest.ts';

export const SnapshotMode = z.enum(['copy', 'reference']);
export type SnapshotMode = z.infer<typeof SnapshotMode>;

/**
 * What is known of a snapshot beside its manifest: which map of locations a run that names it is given, and where it
 * came from. The only part of a snapshot that may be written again.
 */
export const SnapshotRecord = z.strictObject({
  version: z.literal(1),
  snapshot: Digest,
  locations: Digest,
  files: z.number().int().min(0),
  bytes: z.number().int().min(0),
  mode: SnapshotMode,
  source: z.string(),
  by: z.string(),
  at: z.iso.datetime(),
});
export type SnapshotRecord = z.infer<typeof SnapshotRecord>;

/** How long a freeze may take. An abandoned one holds the collector up for so long. */
export const freezeLeaseMs = 24 * 60 * 60 * 1000;
export const FreezeLease = z.strictObject({ version: z.literal(1), at: z.iso.datetime() });
export type FreezeLease = z.infer<typeof FreezeLease>;

/** The collector is at work, at the latest until then. */
export const SweepMark = z.strictObject({ version: z.literal(1), at: z.iso.datetime(), until: z.iso.datetime() });
export type SweepMark = z.infer<typeof SweepMark>;
