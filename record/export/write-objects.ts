import type { Buckets } from '../buckets.ts';
import { recordKeys } from '../layout.ts';
import type { TrustedKeys } from '../verify/trusted-keys.ts';
import { exportPaths } from './export-layout.ts';
import type { RunToExport } from './run-objects.ts';
import type { TarWriter } from './tar-writer.ts';

/** What is not there is left out: the verifier says that it is missing. */
export async function writeObjects(
  store: Buckets,
  { objects }: RunToExport,
  tar: TarWriter,
  { modified, written }: { modified: Date; written: Set<string> },
): Promise<void> {
  for (const { key, path } of objects) {
    if (written.has(path)) continue;
    const found = await store.get(store.record, key);
    if (!found) continue;
    // A run's own files are written with their run, once; only what runs share is asked for again.
    if (path === key) written.add(path);
    await tar.addStream(path, sharedTime(path === key, modified), found.size, found.body as AsyncIterable<Uint8Array>);
  }
}

/** What runs share has no time of its own: it would depend on which run came first. */
const sharedTime = (isShared: boolean, modified: Date) => (isShared ? new Date(0) : modified);

/** The list as the root signed it, and each of its keys for tools that want a file. */
export async function writeKeys(
  store: Buckets,
  { list, keys }: TrustedKeys,
  tar: TarWriter,
  modified: Date,
): Promise<void> {
  const signed = await store.getBytes(store.record, recordKeys.keyList);
  if (signed) await tar.add(recordKeys.keyList, modified, signed);
  for (const { role, fingerprint, publicKey } of list.keys)
    if (keys.has(fingerprint)) await tar.add(exportPaths.key(role, fingerprint), modified, Buffer.from(publicKey));
}
