import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { publishName } from '@hotcell/record/snapshot-name.ts';
import { type KeptSnapshot, putSnapshot, refuseBadNames } from '@hotcell/record/snapshot-store.ts';
import { closeLease, continueLease, openLease } from '@hotcell/record/gc/freeze-lease.ts';
import { presentContents } from '@hotcell/record/present-contents.ts';
import { type ContentDeps, putSmall, putStream, smallContentBytes, verified } from '@hotcell/record/put-content.ts';
import { tally } from './tally.ts';
import { proveRoom } from '@hotcell/record/stored-room.ts';
import { type UnderWay, UnderWays } from './under-way.ts';

interface Body {
  chunks: AsyncIterable<Uint8Array>;
  /** As the client announced it; undefined when it did not. */
  size: number | undefined;
}

async function judge(files: readonly SnapshotEntry[]): Promise<void> {
  const counting = tally('what is uploaded');
  for (const file of files) counting.add(file.size);
  counting.refuseNothing();
  await refuseBadNames(files);
}

/**
 * Freezing what a client has, in three steps: it says what that is and is told what this tenant does not have yet; it
 * sends that; and then the snapshot is made. Beginning again is how an upload that was interrupted goes on.
 */
export class Uploads {
  readonly #deps: ContentDeps;
  readonly #underWays = new UnderWays();

  constructor(deps: ContentDeps) {
    this.#deps = deps;
  }

  async begin(tenant: string, files: readonly SnapshotEntry[]): Promise<{ upload: string; missing: Digest[] }> {
    await judge(files);
    const lease = await openLease(this.#deps.store, tenant);
    const digests = new Set(files.map((file) => file.sha256));
    const seen = await presentContents(this.#deps, tenant, digests, lease.trustsOld);
    const missing = [...digests].filter((digest) => !seen.has(digest));
    const isMissing = new Set(missing);
    const sizes = new Map(files.map(({ sha256, size }) => [sha256, isMissing.has(sha256) ? size : 0]));
    await proveRoom(this.#deps.stored, tenant, sum(sizes.values()));
    this.#underWays.add(tenant, { lease, seen });
    return { upload: lease.id, missing };
  }

  /** One content. It is kept under its digest only if its bytes have that digest. */
  async take(tenant: string, upload: string, digest: Digest, body: Body): Promise<void> {
    const { lease } = await this.#underWay(tenant, upload);
    // While the collector is at work, what is there already may just be on its way out.
    const anew = !lease.trustsOld;
    if (body.size === undefined || body.size > smallContentBytes)
      return putStream(this.#deps, tenant, digest, body.chunks, anew);
    const bytes = Buffer.concat(await Array.fromAsync(verified(body.chunks, digest)));
    await putSmall(this.#deps, tenant, digest, bytes, anew);
    this.#underWays.saw(tenant, upload, digest, bytes.length);
  }

  /** Everything is there: the snapshot is written. A client's word for that is not enough, nor for the sizes. */
  async finish(
    tenant: string,
    asked: { upload: string; files: readonly SnapshotEntry[]; name?: string | undefined; by: string },
  ): Promise<KeptSnapshot> {
    await judge(asked.files);
    const { lease, seen } = await this.#underWay(tenant, asked.upload);
    const unseen = asked.files.map((file) => file.sha256).filter((digest) => !seen.has(digest));
    const found = await presentContents(this.#deps, tenant, unseen, lease.trustsOld);
    const sizeOf = ({ sha256 }: SnapshotEntry) => seen.get(sha256) ?? found.get(sha256);
    refuseMissing(asked.files.filter((file) => sizeOf(file) === undefined));
    refuseSizes(asked.files.filter((file) => sizeOf(file) !== file.size));
    const { store } = this.#deps;
    const kept = await putSnapshot(store, tenant, asked.files, { source: 'upload', by: asked.by });
    if (asked.name !== undefined) await publishName(store, tenant, asked.name, kept.snapshot, asked.by);
    this.#underWays.remove(tenant, lease.id);
    await closeLease(store, tenant, lease);
    return kept;
  }

  async #underWay(tenant: string, upload: string): Promise<UnderWay> {
    const known = this.#underWays.get(tenant, upload);
    if (known) return known;
    const found: UnderWay = { lease: await continueLease(this.#deps.store, tenant, upload), seen: new Map() };
    this.#underWays.add(tenant, found);
    return found;
  }
}

const sum = (sizes: Iterable<number>) => [...sizes].reduce((all, size) => all + size, 0);

function refuseMissing(missing: readonly SnapshotEntry[]): void {
  if (missing.length === 0) return;
  throw new HotcellError('conflict', `${missing.length} of the files have not arrived. Send them, then ask again.`, {
    issues: missing.map(({ path, sha256 }) => ({ path, message: `${hexOf(sha256)} is missing` })),
  });
}

function refuseSizes(wrong: readonly SnapshotEntry[]): void {
  const [first] = wrong;
  if (!first) return;
  throw new HotcellError(
    'snapshot_refused',
    `${first.path} does not have the announced ${first.size} bytes. Begin the upload again.`,
    {
      issues: wrong.map(({ path, size }) => ({ path, message: `does not have ${size} bytes` })),
    },
  );
}
