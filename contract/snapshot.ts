import { z } from 'zod';
import { canonical, Digest, sha256 } from './digest.ts';

export const SnapshotEntry = z.strictObject({
  path: z.string().min(1).max(4096),
  size: z.number().int().min(0),
  sha256: Digest,
});
export type SnapshotEntry = z.infer<typeof SnapshotEntry>;

/** Where the bytes of a path lie; it stands beside the manifest and is no part of its identity. */
export const Location = z.strictObject({ bucket: z.string(), key: z.string(), versionId: z.string().optional() });
export type Location = z.infer<typeof Location>;

/** By the bytes of their UTF-8 form, as sorting everywhere else in the formats. */
export function compareUtf8(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function manifestLine(entry: SnapshotEntry): string {
  return `${canonical({ path: entry.path, sha256: entry.sha256, size: entry.size })}\n`;
}

/** The manifest's text: canonical lines, sorted. Its sha256 is the snapshot's id. */
export function manifestOf(entries: readonly SnapshotEntry[]): { id: Digest; text: string } {
  const text = entries
    .toSorted((a, b) => compareUtf8(a.path, b.path))
    .map(manifestLine)
    .join('');
  return { id: sha256(text), text };
}
