import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import { recordKeys } from './layout.ts';
import type { ContentDeps } from './put-content.ts';
import { youngEnough } from './keep.ts';
import type { Buckets } from './buckets.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';

const headsAtOnce = 32;
const partsAtOnce = 8;
/** Fewer questions than this are not worth a listing. */
const few = 64;
/** More than these are listed in sixteen parts at once, by the first digit: a listing is told page after page. */
const many = 4000;
/** One question costs about as much as being told of so many keys in a listing. */
const keysPerQuestion = 6;

type Found = (digest: Digest, object: { size: number; modified: Date | undefined }) => void;

/**
 * Which of these contents does the tenant have already? Never another tenant: each has its own. Told by listing, in the
 * order of keys, as long as that is cheaper; what is left is asked one by one. Answers
 * with their sizes.
 */
export async function presentContents(
  { store, contents }: ContentDeps,
  tenant: string,
  digests: Iterable<Digest>,
  trustsOld: boolean,
): Promise<Map<Digest, number>> {
  const present = new Map<Digest, number>();
  const found: Found = (digest, { size, modified }) => {
    if (trustsOld || youngEnough(modified)) present.set(digest, size);
  };
  const asked = [...new Set(digests)];
  const left: Digest[] = [];
  await inLanes(partsAtOnce, partsOf(asked), async ([digit, part]) => {
    left.push(...(await byListing(store, `${recordKeys.casPrefix(tenant)}${digit}`, tenant, part, found)));
  });
  await inLanes(headsAtOnce, left, async (digest) => {
    const head = await contents.own.head(store.record, recordKeys.cas(tenant, digest));
    if (head) found(digest, head);
  });
  return present;
}

/** How many bytes each of a tenant's contents has. A short page is parsed without holding up others. */
export async function* contentSizes(store: Buckets, tenant: string, pageSize: number): AsyncGenerator<number> {
  for await (const { size } of store.list(store.record, recordKeys.casPrefix(tenant), { pageSize })) yield size;
}

/** Together they are all; each with what the hex digits of its digests begin with. */
function partsOf(asked: readonly Digest[]): Iterable<readonly [string, readonly Digest[]]> {
  return asked.length > many ? Map.groupBy(asked, (digest) => hexOf(digest).slice(0, 1)) : [['', asked]];
}

/** What the listing did not get to. */
async function byListing(
  store: Buckets,
  prefix: string,
  tenant: string,
  asked: readonly Digest[],
  found: Found,
): Promise<readonly Digest[]> {
  if (asked.length < few) return asked;
  const byKey = new Map(asked.map((digest) => [recordKeys.cas(tenant, digest), digest]));
  let listed = 0;
  for await (const object of store.list(store.record, prefix)) {
    const digest = byKey.get(object.key);
    if (digest) found(digest, object);
    if (++listed === asked.length * keysPerQuestion)
      return [...byKey].filter(([other]) => other > object.key).map(([, later]) => later);
  }
  return [];
}
