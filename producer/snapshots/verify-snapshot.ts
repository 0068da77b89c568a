import type { SnapshotVerdict } from '@hotcell/contract/api/snapshots.ts';
import { createHash } from 'node:crypto';
import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import { HotcellError, type Issue } from '@hotcell/contract/errors.ts';
import type { LocatedEntry } from '@hotcell/record/snapshot-locations.ts';
import type { Contents } from '@hotcell/record/contents.ts';
import type { ContentDeps } from '@hotcell/record/put-content.ts';
import { locatedAt, snapshotRecord } from '@hotcell/record/snapshot-store.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';

const readsAtOnce = 16;

/** Read every byte of a snapshot where it lies and compare: what is said here of a file was seen, not remembered. */
export async function verifySnapshot(deps: ContentDeps, tenant: string, id: Digest): Promise<SnapshotVerdict> {
  const record = await snapshotRecord(deps.store, tenant, id);
  if (!record) throw new HotcellError('not_found', `Snapshot ${id} not found.`);
  const problems: Issue[] = [];
  let entries: LocatedEntry[] = [];
  try {
    entries = await locatedAt(deps.store, tenant, id, record.locations);
  } catch (error) {
    if (!(error instanceof HotcellError) || (error.retryable === true && error.code !== 'input_damaged')) throw error;
    problems.push({ path: '(manifest)', message: error.message });
  }
  await inLanes(readsAtOnce, entries, async (entry) => {
    const wrong = await problemOf(deps.contents, tenant, entry);
    if (wrong !== undefined) problems.push({ path: entry.path, message: wrong });
  });
  problems.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { id, verified: problems.length === 0, files: record.files, bytes: record.bytes, problems };
}

async function problemOf(contents: Contents, tenant: string, entry: LocatedEntry): Promise<string | undefined> {
  const { bucket, key, versionId } = entry.location;
  const hash = createHash('sha256');
  let bytes = 0;
  const head = await contents.of(tenant, entry).read(
    bucket,
    key,
    (chunk) => {
      bytes += chunk.length;
      hash.update(chunk);
      return undefined;
    },
    { versionId },
  );
  const where = `${bucket}/${key}${versionId ? ` version ${versionId}` : ''}`;
  if (!head) return `${where} is gone`;
  const found = hash.digest('hex');
  return found === hexOf(entry.sha256) && bytes === entry.size
    ? undefined
    : `${where} has ${bytes} bytes with sha256 ${found}, not the ${entry.size} with ${hexOf(entry.sha256)} that were frozen`;
}
