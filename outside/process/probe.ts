import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { HotcellError, type Issue, messageOf } from '@hotcell/contract/errors.ts';
import { Redis } from 'ioredis';
import { StoreAdmin } from '../store/store-admin.ts';
import { PreconditionFailed } from '../store/store-errors.ts';
import type { StoreAccess } from '../store/store-client.ts';
import { Store } from '../store/store.ts';

/**
 * What Hotcell's promises rest on is proven when a process starts, against the very store and queue it was given: a
 * store that takes every conditional write would let two results of one run win, and nobody would see it.
 */
const writers = 32;

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

/** Every writer at once, of whom exactly one may win: once where nothing was, once where something was. */
async function conditionalWrites(store: Store, bucket: string): Promise<Issue[]> {
  const prefix = `probe/${randomUUID()}`;
  const [absent, matched] = [`${prefix}/absent`, `${prefix}/matched`];
  const issues: Issue[] = [];
  const expectOne = (count: number, condition: string) => {
    if (count !== 1) {
      const message = `of ${writers} writers at once with ${condition} ${count} won instead of one: this store lacks conditional writes; use one that has them (versitygw, AWS S3, Ceph, SeaweedFS)`;
      issues.push({ path: bucket, message });
    }
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

async function recordKeeps(admin: StoreAdmin, record: string): Promise<Issue[]> {
  const [versions, lock] = await Promise.all([admin.keepsVersions(record), admin.lockOf(record)]);
  const issues: Issue[] = [];
  const lacks = (message: string) => issues.push({ path: record, message });
  if (!versions) lacks('the bucket does not keep versions: switch on versioning');
  if (!lock) lacks('the bucket has no Object Lock: it can only be had when a bucket is created, so create another one');
  if (lock && lock.defaultRetention)
    lacks('the bucket has a default retention, which would lock what must be collectable: remove it');
  return issues;
}

/** One bucket keeps versions under a lock, the other takes what comes and goes. */
type Probed = StoreAccess & { record: string; work: string };

export async function probeStore(settings: Probed): Promise<void> {
  using store = new Store(settings);
  using admin = new StoreAdmin(settings);
  const who = `the store at ${settings.endpoint}`;
  const found = await Promise.all([conditionalWrites(store, settings.work), recordKeeps(admin, settings.record)]).catch(
    (error: unknown) => {
      const code = error instanceof HotcellError ? error.code : 'store_unavailable';
      throw new HotcellError(code, `${who} could not be tried: ${messageOf(error)}`, { cause: error });
    },
  );
  refuse('store_unavailable', who, found.flat());
}

function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
}

/** What the queue says of itself, judged. Losing tickets is survivable, losing them silently while full is not. */
export function judgeQueue(info: string): Issue[] {
  const issues: Issue[] = [];
  const policy = field(info, 'maxmemory_policy');
  if (policy !== 'noeviction') {
    const message = `is ${policy ?? 'not told'}: when memory is full it would drop tickets; set it to noeviction`;
    issues.push({ path: 'maxmemory-policy', message });
  }
  if (field(info, 'aof_enabled') !== '1')
    issues.push({ path: 'appendonly', message: 'is off: a restart would forget every ticket; set it to yes' });
  return issues;
}

export async function probeQueue(url: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: 3_000,
  });
  // Every failure reaches the caller through the call that failed.
  redis.on('error', () => {});
  const { host } = new URL(url);
  try {
    await redis.connect();
    refuse('queue_unavailable', `the queue at ${host}`, judgeQueue(await redis.info()));
  } catch (error) {
    if (error instanceof HotcellError) throw error;
    throw new HotcellError('queue_unavailable', `the queue at ${host} does not answer: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    redis.disconnect();
  }
}

class Lacking extends HotcellError {}

function refuse(code: 'store_unavailable' | 'queue_unavailable', who: string, issues: readonly Issue[]): void {
  if (issues.length === 0) return;
  const said = issues.map((issue) => `${issue.path}: ${issue.message}`).join('; ');
  throw new Lacking(code, `${who} is not what Hotcell relies on: ${said}`, { issues });
}

/** At a service's start. What does not answer yet may be starting too; what lacks something will not grow it. */
export async function probeAtStart(settings: { store: Probed; redisUrl: string }, patienceMs = 60_000): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      await Promise.all([probeStore(settings.store), probeQueue(settings.redisUrl)]);
      return;
    } catch (error) {
      const mayCome = error instanceof HotcellError && error.retryable && !(error instanceof Lacking);
      if (!mayCome || performance.now() > end) throw error;
      await pause(500);
    }
  }
}
