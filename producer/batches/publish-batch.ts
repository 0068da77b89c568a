import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { snapshotLimits } from '@hotcell/contract/snapshot.ts';
import { readResult } from '@hotcell/record/commit.ts';
import { keptOutputs } from '@hotcell/record/kept-outputs.ts';
import { putStream } from '@hotcell/record/put-content.ts';
import { tellPublished } from '@hotcell/record/commit.ts';
import { publishName } from '@hotcell/record/snapshot-name.ts';
import { putSnapshot, type SnapshotFile } from '@hotcell/record/snapshot-store.ts';
import type { Producer } from '../producer.ts';
import { type BatchManifest, endsOfBatch } from './batch-manifest.ts';
import type { KnownBatch } from './known-batch.ts';
import type { BatchRound } from '@hotcell/contract/batch.ts';

const readsAtOnce = 16;
/** So that the folders of items sort by their numbers. */
const digits = 6;

type Published = NonNullable<NonNullable<BatchRound['ended']>['published']>;

/** A snapshot of the manifest and of all outputs, which lie in the tenant's contents already; then its name. */
export async function publishBatch(
  producer: Producer,
  known: KnownBatch,
  { manifest, name, at, keep }: { manifest: BatchManifest; name: string; at: string; keep: () => Promise<void> },
): Promise<Published> {
  const { store } = producer;
  const { tenant, batch } = known.head.value;
  try {
    await putManifestContent(producer, tenant, manifest);
    const files = await outputsOfItems(producer, known, keep);
    files.unshift({ path: 'manifest.ndjson', size: manifest.bytes, sha256: manifest.sha256 });
    const about = { source: `batch ${batch}`, by: `batch ${batch}`, at: new Date(at) };
    const { snapshot } = await putSnapshot(store, tenant, files, about);
    await publishName(store, tenant, name, snapshot, `batch ${batch}`, new Date(at));
    await tellPublished(producer, tenant, name);
    return { snapshot };
  } catch (error) {
    if (!(error instanceof HotcellError) || error.retryable) throw error;
    return { problem: error.message };
  }
}

async function putManifestContent(producer: Producer, tenant: string, { key, sha256 }: BatchManifest): Promise<void> {
  const { store } = producer;
  const found = await store.get(store.record, key);
  if (!found) throw new HotcellError('record_damaged', `${store.record}/${key} is not there.`);
  await putStream(producer, tenant, sha256, found.body, true);
}

async function outputsOfItems(
  { store }: Producer,
  { head, round, items }: KnownBatch,
  keep: () => Promise<void>,
): Promise<SnapshotFile[]> {
  const { tenant, batch } = head.value;
  const files: SnapshotFile[] = [];
  for await (const ends of endsOfBatch(store, { tenant, batch, round }, items)) {
    await keep();
    const found = new Map<number, SnapshotFile[]>();
    await inLanes(readsAtOnce, ends, async ({ item, run, outputs }) => {
      if (run === null || outputs === null) return;
      const result = await readResult(store, tenant, run);
      const outs = result ? (await keptOutputs(store, result)).files : [];
      const folder = `items/${String(item).padStart(digits, '0')}`;
      found.set(
        item,
        outs.map(({ path, size, sha256 }) => ({ path: `${folder}/${path}`, size, sha256 })),
      );
    });
    for (const { item } of ends) files.push(...(found.get(item) ?? []));
    if (files.length < snapshotLimits.files) continue;
    throw new HotcellError(
      'snapshot_refused',
      `The outputs of all items are more than ${snapshotLimits.files} files, the most that a snapshot has. Publish them from the runs.`,
    );
  }
  return files;
}
