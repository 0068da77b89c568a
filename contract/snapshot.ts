import { z } from 'zod';
import { canonical, Digest, sha256 } from './digest.ts';
import { HotcellError } from './errors.ts';
import { parseJsonAs } from './parse.ts';
import { type NameProblem, nameProblems } from './snapshot-names.ts';

export const SnapshotEntry = z.strictObject({
  path: z.string().min(1).max(4096),
  size: z.number().int().min(0),
  sha256: Digest,
});
export type SnapshotEntry = z.infer<typeof SnapshotEntry>;

/** Where the bytes of a path are stored: beside the manifest, and not part of its identity. */
export const Location = z.strictObject({ bucket: z.string(), key: z.string(), versionId: z.string().optional() });
export type Location = z.infer<typeof Location>;

/** The most that one snapshot holds. Counted while listing, so that memory never holds a million keys. */
export const snapshotLimits = { files: 100_000, bytes: 2 ** 40 } as const;

/** By the bytes of their UTF-8 form, like all sorting in the stored formats. */
export function compareUtf8(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at++) {
    const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (one !== other) return rankOf(one) - rankOf(other);
  }
  return a.length - b.length;
}

/** Halves of pairs stand for characters whose bytes come after those of all single ones. */
const rankOf = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

function manifestLine(entry: SnapshotEntry): string {
  return `${canonical({ path: entry.path, sha256: entry.sha256, size: entry.size })}\n`;
}

/** The manifest: canonical lines, sorted. Its sha256 is the snapshot's id. */
export function manifestOf(entries: readonly SnapshotEntry[]): { id: Digest; text: string } {
  const text = entries
    .toSorted((a, b) => compareUtf8(a.path, b.path))
    .map(manifestLine)
    .join('');
  return { id: sha256(text), text };
}

/** A refusal is stored and sent: it names so many offending paths and counts the rest. */
const mostNamed = 100;

export function refuseNames(problems: readonly NameProblem[]): void {
  const [first] = problems;
  if (!first) return;
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : '';
  throw new HotcellError(
    'snapshot_refused',
    `Snapshot refused: ${JSON.stringify(first.path)} ${first.reason}${more}. Rename these files and freeze the source again.`,
    { issues: problems.slice(0, mostNamed).map(({ path, reason }) => ({ path, message: reason })) },
  );
}

/**
 * Reads a fetched manifest, which must match its id and be canonical. An attacker who can write to the store can also
 * compute an id, so the names are checked again here, before they become paths of a host.
 */
export function readManifest(text: string, id: Digest): SnapshotEntry[] {
  const entries = readLines(text, id, `the manifest of ${id}`, SnapshotEntry);
  refuseNames(nameProblems(entries.map((entry) => entry.path)));
  return entries;
}

export function readLines<S extends z.ZodType<{ path: string }>>(
  text: string,
  digest: Digest,
  what: string,
  schema: S,
): z.output<S>[] {
  const damaged = (why: string) => new HotcellError('input_damaged', `${what} ${why}. Freeze the source again.`);
  if (sha256(text) !== digest) throw damaged('does not match its digest: it was changed or cut off in the store');
  if (text !== '' && !text.endsWith('\n')) throw damaged('ends in the middle of a line');
  let before: string | undefined;
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const entry = parseJsonAs(schema, line, what, 'input_damaged');
      if (canonical(entry) !== line) throw damaged('contains a line that is not canonical');
      if (before !== undefined && compareUtf8(before, entry.path) >= 0) throw damaged('is not sorted');
      before = entry.path;
      return entry;
    });
}

export const SnapshotMode = z.enum(['copy', 'reference']);
export type SnapshotMode = z.infer<typeof SnapshotMode>;

/** What is known of a snapshot beside its files: the map of their locations, and where it came from. */
export const snapshotFacts = {
  locations: Digest,
  files: z.number().int().min(0),
  bytes: z.number().int().min(0),
  mode: SnapshotMode,
  source: z.string(),
  by: z.string(),
  at: z.iso.datetime(),
};
