import { type DiskKind, diskKinds, type DiskSample, DiskSamples, withSample } from '@hotcell/contract/disk-growth.ts';
import { parseOurs } from '@hotcell/contract/parse.ts';
import type { Buckets } from './buckets.ts';
import { diskKindOf } from './disk-kind.ts';
import { workKeys } from './layout.ts';

/** A page has so many keys, so that its parsing holds up no caller. */
const pageSize = 200;

/** `keep` is asked between two pages, and ends the work by throwing. */
export async function measureBuckets(store: Buckets, keep: () => Promise<void>): Promise<DiskSample> {
  const at = new Date().toISOString();
  const uses = new Map<DiskKind, { objects: number; bytes: number }>(
    diskKinds.map((kind) => [kind, { objects: 0, bytes: 0 }]),
  );
  let keys = 0;
  const count = async (bucket: string, kindOf: (key: string) => DiskKind) => {
    for await (const { key, size } of store.list(bucket, '', { pageSize })) {
      const use = uses.get(kindOf(key));
      if (use) {
        use.objects += 1;
        use.bytes += size;
      }
      if (++keys % pageSize === 0) await keep();
    }
  };
  await count(store.record, diskKindOf);
  await count(store.work, () => 'work');
  return { at, kinds: [...uses].map(([kind, use]) => ({ kind, ...use })) };
}

export async function keptSamples(store: Buckets): Promise<DiskSample[]> {
  const bytes = await store.getBytes(store.work, workKeys.disk);
  return bytes ? parseOurs(DiskSamples, bytes.toString(), 'the samples of disk use').samples : [];
}

/** Only the leader writes it. Were there two for a moment, a sample would be lost, and nothing else. */
export async function keepSample(store: Buckets, sample: DiskSample): Promise<void> {
  const kept: DiskSamples = { version: 1, samples: withSample(await keptSamples(store), sample) };
  await store.put(store.work, workKeys.disk, JSON.stringify(kept));
}
