import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { refuseNames, type SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { nameProblems } from '@hotcell/contract/snapshot-names.ts';
import { publishName } from '@hotcell/outside/names-record.ts';
import { type KeptSnapshot, putSnapshot } from '@hotcell/outside/snapshot-record.ts';
import { closeLease, continueLease, type Lease, openLease } from './lease.ts';
import { presentContents } from './present.ts';
import { type ContentDeps, putSmall, putStream, smallBytes, verified } from './put-content.ts';
import { Tally } from './tally.ts';

export interface Upload {
  upload: string;
  /** What has to be sent before the snapshot can be made. */
  missing: Digest[];
}

export interface Body {
  chunks: AsyncIterable<Uint8Array>;
  /** As the client announced it; undefined when it did not. */
  size: number | undefined;
}

export interface Finishing {
  upload: string;
  files: readonly SnapshotEntry[];
  name?: string | undefined;
  by: string;
}

function judge(files: readonly SnapshotEntry[]): void {
  const tally = new Tally('what is uploaded');
  for (const file of files) tally.add(file.size);
  tally.refuseNothing();
  refuseNames(nameProblems(files.map((file) => file.path)));
}

/** How many uploads are remembered to be under way; those that are not are looked up. */
const remembered = 1000;

/**
 * Freezing what a client has, in three steps: it says what that is and is told what this tenant does not have yet; it
 * sends that; and then the snapshot is made. Beginning again is how an upload that was interrupted goes on.
 */
export class Uploads {
  readonly #deps: ContentDeps;
  /** Leases that were open when no collector was at work: any later one sees them. */
  readonly #trusted = new Map<string, Lease>();

  constructor(deps: ContentDeps) {
    this.#deps = deps;
  }

  async begin(tenant: string, files: readonly SnapshotEntry[]): Promise<Upload> {
    judge(files);
    const lease = await openLease(this.#deps.store, tenant);
    this.#remember(tenant, lease);
    const digests = new Set(files.map((file) => file.sha256));
    const present = await presentContents(this.#deps, tenant, digests, lease.trustsOld);
    return { upload: lease.id, missing: [...digests].filter((digest) => !present.has(digest)) };
  }

  /** One content. It is kept under its digest only if its bytes have that digest. */
  async take(tenant: string, upload: string, digest: Digest, body: Body): Promise<void> {
    const { trustsOld } = await this.#lease(tenant, upload);
    // While the collector is at work, what is there already may just be on its way out.
    const anew = !trustsOld;
    if (body.size === undefined || body.size > smallBytes)
      return putStream(this.#deps, tenant, digest, body.chunks, anew);
    const bytes = Buffer.concat(await Array.fromAsync(verified(body.chunks, digest)));
    await putSmall(this.#deps, tenant, digest, bytes, anew);
  }

  /** Everything is there: the snapshot is written. A client's word for that is not enough, nor for the sizes. */
  async finish(tenant: string, asked: Finishing): Promise<KeptSnapshot> {
    judge(asked.files);
    const lease = await this.#lease(tenant, asked.upload);
    const digests = asked.files.map((file) => file.sha256);
    const present = await presentContents(this.#deps, tenant, digests, lease.trustsOld);
    refuseMissing(asked.files.filter((file) => !present.has(file.sha256)));
    refuseSizes(asked.files.filter((file) => present.get(file.sha256) !== file.size));
    const { store } = this.#deps;
    const kept = await putSnapshot(store, tenant, asked.files, { source: 'upload', by: asked.by });
    if (asked.name !== undefined) await publishName(store, tenant, asked.name, kept.snapshot, asked.by);
    this.#trusted.delete(`${tenant}/${lease.id}`);
    await closeLease(store, tenant, lease);
    return kept;
  }

  async #lease(tenant: string, upload: string): Promise<Lease> {
    const known = this.#trusted.get(`${tenant}/${upload}`);
    if (known) return known;
    const lease = await continueLease(this.#deps.store, tenant, upload);
    this.#remember(tenant, lease);
    return lease;
  }

  #remember(tenant: string, lease: Lease): void {
    if (!lease.trustsOld) return;
    this.#trusted.set(`${tenant}/${lease.id}`, lease);
    for (const oldest of this.#trusted.keys()) {
      if (this.#trusted.size <= remembered) break;
      this.#trusted.delete(oldest);
    }
  }
}

function refuseMissing(missing: readonly SnapshotEntry[]): void {
  if (missing.length === 0) return;
  throw new HotcellError('conflict', `${missing.length} of the files have not arrived yet: send them, then ask again`, {
    issues: missing.map(({ path, sha256 }) => ({ path, message: `${hexOf(sha256)} is missing` })),
  });
}

function refuseSizes(wrong: readonly SnapshotEntry[]): void {
  const [first] = wrong;
  if (!first) return;
  throw new HotcellError('snapshot_refused', `${first.path} is said to have ${first.size} bytes, and has not`, {
    issues: wrong.map(({ path, size }) => ({ path, message: `has not ${size} bytes` })),
  });
}
