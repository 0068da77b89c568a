import { Digest, sha256 } from '@hotcell/contract/digest.ts';
import { workKeys } from '@hotcell/contract/layout.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { SnapshotMode } from '@hotcell/contract/snapshot-records.ts';
import type { Store } from '@hotcell/outside/store.ts';
import { z } from 'zod';

const Heading = z.strictObject({
  version: z.literal(1),
  /** The snapshot that was made last, if that freeze came to its end. */
  snapshot: Digest.optional(),
  mode: SnapshotMode,
});
const Line = z.strictObject({ key: z.string(), versionId: z.string(), size: z.number().int().min(0), sha256: Digest });
export type RememberedObject = z.infer<typeof Line>;

/** What was read before: an object's version is always the same bytes, so it never has to be read twice. */
export interface Remembered {
  snapshot?: Digest | undefined;
  mode: SnapshotMode;
  objects: Map<string, RememberedObject>;
}

const placeOf = (bucket: string, prefix: string) => sha256(`s3://${bucket}/${prefix}`);
export const objectKey = (key: string, versionId: string) => `${versionId}/${key}`;

export async function remember(
  store: Store,
  tenant: string,
  place: { bucket: string; prefix: string },
  memory: Remembered,
): Promise<void> {
  const heading = { version: 1, ...(memory.snapshot && { snapshot: memory.snapshot }), mode: memory.mode };
  const lines = [heading, ...memory.objects.values()].map((line) => `${JSON.stringify(line)}\n`);
  await store.put(store.work, workKeys.remembered(tenant, placeOf(place.bucket, place.prefix)), lines.join(''));
}

export async function recall(
  store: Store,
  tenant: string,
  place: { bucket: string; prefix: string },
): Promise<Remembered | undefined> {
  const key = workKeys.remembered(tenant, placeOf(place.bucket, place.prefix));
  const bytes = await store.getBytes(store.work, key);
  if (bytes === undefined) return undefined;
  const [heading = '', ...lines] = bytes.toString('utf8').trimEnd().split('\n');
  const { snapshot, mode } = parseJsonAs(Heading, heading, key, 'record_damaged');
  const objects = lines.map((line) => parseJsonAs(Line, line, key, 'record_damaged'));
  return {
    snapshot,
    mode,
    objects: new Map(objects.map((object) => [objectKey(object.key, object.versionId), object])),
  };
}
