import { randomUUID } from 'node:crypto';
import { HotcellError, type Issue, messageOf } from '@hotcell/contract/errors.ts';
import { refuseUnfit } from '../process/unfit.ts';
import { StoreAdmin } from './store-admin.ts';
import type { StoreAccess } from './store-client.ts';
import { PreconditionFailed } from './store-errors.ts';
import { Store } from './store.ts';

/**
 * Proves, against the very store a process was given, what Hotcell's promises rest on: a store that accepts every
 * conditional write would let two results of one run win, unnoticed.
 */
const writers = 32;

/** One bucket keeps versions under a lock; the other holds what comes and goes. */
export type Probed = StoreAccess & { record: string; work: string };

export async function probeStore(settings: Probed): Promise<void> {
  using store = new Store(settings);
  using admin = new StoreAdmin(settings);
  const service = `The store at ${settings.endpoint}`;
  const found = await Promise.all([conditionalWrites(store, settings.work), recordKeeps(admin, settings.record)]).catch(
    (cause: unknown) => {
      const code = cause instanceof HotcellError ? cause.code : 'store_unavailable';
      throw new HotcellError(code, `${service} could not be probed. ${messageOf(cause)}`, { cause });
    },
  );
  refuseUnfit('store_unavailable', service, found.flat());
}

/** All writers at once, of which exactly one may win: first where there is no object, then where there is one. */
async function conditionalWrites(store: Store, bucket: string): Promise<Issue[]> {
  const prefix = `probe/${randomUUID()}`;
  const [absent, matched] = [`${prefix}/absent`, `${prefix}/matched`];
  const issues: Issue[] = [];
  const expectOne = (count: number, condition: string) => {
    if (count === 1) return;
    const message = `of ${writers} simultaneous writers with ${condition} ${count} won instead of one: this store lacks conditional writes; use one that has them (versitygw, AWS S3, Ceph, SeaweedFS)`;
    issues.push({ path: bucket, message });
  };
  try {
    expectOne(await winners((who) => store.putIfAbsent(bucket, absent, `${who}`)), 'If-None-Match');
    const { etag } = await store.put(bucket, matched, 'before');
    const replace = (who: number) => unlessConditionFailed(store.put(bucket, matched, `${who}`, { ifMatch: etag }));
    expectOne(await winners(replace), 'If-Match');
  } finally {
    await store.deleteMany(bucket, [absent, matched]);
  }
  return issues;
}

async function winners(write: (who: number) => Promise<boolean>): Promise<number> {
  const won = await Promise.all(Array.from({ length: writers }, (_, who) => write(who)));
  return won.filter(Boolean).length;
}

async function unlessConditionFailed(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof PreconditionFailed) return false;
    throw error;
  }
}

async function recordKeeps(admin: StoreAdmin, record: string): Promise<Issue[]> {
  const [versions, lock] = await Promise.all([admin.keepsVersions(record), admin.lockOf(record)]);
  const issues: Issue[] = [];
  const lacks = (message: string) => issues.push({ path: record, message });
  if (!versions) lacks('the bucket does not keep versions: switch on versioning');
  if (!lock) lacks('the bucket has no Object Lock, which is set when a bucket is created: create another one');
  if (lock && lock.defaultRetention)
    lacks('the bucket has a default retention, which would lock what garbage collection removes: remove it');
  return issues;
}
