import type { Digest } from '@hotcell/contract/digest.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { readManifest } from '@hotcell/contract/snapshot.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { recordKeys } from '../layout.ts';
import { readLocations } from '../snapshot-locations.ts';
import { isStoreAway } from './store-away.ts';
import type { Look } from './verification.ts';

/** An input's manifest, the map of where its files lie, and those that lie in this record. */
export async function verifyInput(
  look: Look,
  tenant: string,
  { snapshot, locations }: Result['inputs'][number],
): Promise<void> {
  const at = recordKeys.manifest(tenant, snapshot);
  const map = locations && recordKeys.locations(tenant, locations);
  const isWhole = (await look.matches(at, snapshot)) && (!map || (await look.matches(map, locations)));
  if (!isWhole || look.of.contents !== true) return;
  const [manifest, located] = [await look.whole(at), map && (await look.whole(map))];
  if (!manifest) return;
  try {
    const files = readManifest(manifest.toString('utf8'), snapshot);
    const places = located && locations ? readLocations(located.toString('utf8'), locations, files) : [];
    const here = new Map(places.map(({ sha256, location }) => [sha256, location.key]));
    for (const digest of new Set(files.map(({ sha256 }) => sha256)))
      if (isOurs(tenant, digest, here.get(digest))) await look.matches(recordKeys.cas(tenant, digest), digest);
  } catch (error) {
    if (isStoreAway(error)) throw error;
    look.findings.add('INCONSISTENT', at, 'a manifest that fits its map of locations', messageOf(error).slice(0, 300));
  }
}

/** What a snapshot by reference points to lies in a bucket of its own, which may not be ours to read. */
function isOurs(tenant: string, digest: Digest, key: string | undefined): boolean {
  return key === undefined || key === recordKeys.cas(tenant, digest);
}
