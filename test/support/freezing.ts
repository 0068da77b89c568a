import { join } from 'node:path';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import type { Source } from '@hotcell/contract/sources.ts';
import { InputCache } from '@hotcell/executor-worker/inputs/cache.ts';
import { stageInputs } from '@hotcell/executor-worker/inputs/stage.ts';
import { Contents } from '@hotcell/record/contents.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { type KeptSnapshot, putSnapshot } from '@hotcell/record/snapshot-store.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import type { Account } from '@hotcell/setup/settings/installation.ts';
import type { Bed } from './bed.ts';
import { type House, logLevel } from './house.ts';

/** Contents by path. */
export type Tree = Readonly<Record<string, string | Buffer>>;

/** Reads contents with an account's rights, through a proxy if an endpoint is given. */
export async function contentsAs(
  house: House,
  account: Account,
  more: { endpoint?: string; sources?: readonly Source[]; silenceMs?: number } = {},
): Promise<Contents> {
  const env = await house.settings(account);
  return new Contents(
    {
      endpoint: more.endpoint ?? env['HOTCELL_S3_ENDPOINT'] ?? '',
      region: env['HOTCELL_S3_REGION'] ?? '',
      accessKey: env['HOTCELL_S3_ACCESS_KEY'] ?? '',
      secretKey: env['HOTCELL_S3_SECRET_KEY'] ?? '',
      record: house.store.record,
      ...(more.silenceMs === undefined ? {} : { silenceMs: more.silenceMs }),
    },
    more.sources,
  );
}

/** Freezes a tree into a snapshot. */
export async function freezeTree(house: House, tenant: string, tree: Tree, store?: Buckets): Promise<KeptSnapshot> {
  await using contents = await contentsAs(house, 'producer');
  const { record } = house.store;
  const files = Object.entries(tree).map(([path, content]) => {
    const bytes = Buffer.from(content);
    return { path, bytes, size: bytes.length, sha256: sha256(bytes) };
  });
  for (const { sha256: digest, bytes } of new Map(files.map((file) => [file.sha256, file])).values())
    await contents.own.put(record, recordKeys.cas(tenant, digest), bytes, hexOf(digest), { ifAbsent: true });
  const entries = files.map(({ path, size, sha256: digest }) => ({ path, size, sha256: digest }));
  return await putSnapshot(store ?? house.producer.store, tenant, entries);
}

export async function openCache(
  bed: Bed,
  contents: Contents,
  maxBytes = 2 ** 30,
  folder?: string,
): Promise<InputCache> {
  const where = folder ?? join(await bed.folder('cache'), 'cache');
  return InputCache.open({ folder: where, maxBytes }, contents, openLog('cache', logLevel));
}

export function staged(
  house: House,
  inputs: InputCache,
  tenant: string,
  named: Readonly<Record<string, Pick<KeptSnapshot, 'snapshot' | 'locations'>>>,
  options: Parameters<typeof stageInputs>[2] & { params?: null | { [name: string]: string | number } } = {},
) {
  const pinned = Object.entries(named).map(([name, { snapshot, locations }]) => ({ name, snapshot, locations }));
  const { params = {}, ...rest } = options;
  return stageInputs({ store: house.store, inputs }, { tenant, inputs: pinned, params }, rest);
}
