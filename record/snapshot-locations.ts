import { z } from 'zod';
import { canonical, type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys } from './layout.ts';
import { compareUtf8, Location, readLines, type SnapshotEntry } from '@hotcell/contract/snapshot.ts';

const LocationLine = z.strictObject({ path: z.string().min(1), ...Location.shape });

/** A file of a snapshot and where its bytes are. */
export interface LocatedEntry extends SnapshotEntry {
  location: Location;
}

/**
 * Where bytes lie that were copied into the tenant's content-addressed store. Without a version: the key is the digest,
 * the reader compares the bytes with it, and content that was collected and put again is the same.
 */
export function casLocation(record: string, tenant: string, digest: Digest): Location {
  return { bucket: record, key: recordKeys.cas(tenant, digest) };
}

/** The map of locations: canonical lines, sorted like the manifest's, named by their sha256. */
export function locationsOf(entries: readonly LocatedEntry[]): { digest: Digest; text: string } {
  const text = entries
    .toSorted((a, b) => compareUtf8(a.path, b.path))
    .map(({ path, location }) => `${canonical({ path, ...location })}\n`)
    .join('');
  return { digest: sha256(text), text };
}

/** The map as it was fetched, laid beside the manifest: every path has exactly one place. */
export function readLocations(text: string, digest: Digest, entries: readonly SnapshotEntry[]): LocatedEntry[] {
  const lines = readLines(text, digest, `the map of locations ${digest}`, LocationLine);
  if (lines.length !== entries.length || lines.some((line, i) => line.path !== entries[i]?.path))
    throw new HotcellError(
      'input_damaged',
      `The map of locations ${digest} does not belong to the snapshot's manifest.`,
    );
  return entries.map((entry, i) => {
    const { bucket = '', key = '', versionId } = lines[i] ?? {};
    return { ...entry, location: { bucket, key, ...(versionId === undefined ? {} : { versionId }) } };
  });
}
