import { Digest, sha256 } from '@hotcell/contract/digest.ts';
import { workKeys } from './layout.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import type { Buckets } from './buckets.ts';
import { z } from 'zod';

const Heading = z.looseObject({ version: z.literal(1) });
const Line = z.looseObject({ key: z.string(), versionId: z.string(), size: z.number().int().min(0), sha256: Digest });
type RememberedObject = z.infer<typeof Line>;

/**
 * What was read before, by version and key: an object's version is always the same bytes, so it never has to be read
 * twice.
 */
export type Remembered = Map<string, RememberedObject>;

export interface Place {
  bucket: string;
  prefix: string;
}
const keyOf = (tenant: string, { bucket, prefix }: Place) =>
  workKeys.remembered(tenant, sha256(`s3://${bucket}/${prefix}`));
export const objectKey = (key: string, versionId: string) => `${versionId}/${key}`;

export async function remember(store: Buckets, tenant: string, place: Place, memory: Remembered): Promise<void> {
  const lines = [{ version: 1 }, ...memory.values()].map((line) => `${JSON.stringify(line)}\n`);
  await store.put(store.work, keyOf(tenant, place), lines.join(''));
}

export async function recall(store: Buckets, tenant: string, place: Place): Promise<Remembered> {
  const key = keyOf(tenant, place);
  const bytes = await store.getBytes(store.work, key);
  if (bytes === undefined) return new Map();
  const [heading = '', ...lines] = bytes.toString('utf8').trimEnd().split('\n');
  parseJsonAs(Heading, heading, key, 'record_damaged');
  const objects = lines.map((line) => parseJsonAs(Line, line, key, 'record_damaged'));
  return new Map(objects.map((object) => [objectKey(object.key, object.versionId), object]));
}
