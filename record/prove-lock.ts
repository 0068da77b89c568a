import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import type { Buckets } from './buckets.ts';
import { objects } from './objects.ts';

const proven = new WeakMap<Buckets, Set<string>>();

/**
 * Before the first run of a retention mode is promised to anyone: the store must say of its spec, which was just put, that
 * it is locked. A store that ignores a lock would otherwise keep a record that anyone may remove.
 */
export async function proveLock(store: Buckets, { tenant, run, retention }: Spec): Promise<void> {
  if (!retention) return;
  const known = proven.get(store) ?? new Set();
  proven.set(store, known);
  if (known.has(retention.mode)) return;
  const lock = await store.lockOn(store.record, objects.spec.key(tenant, run));
  if (lock?.mode.toLowerCase() !== retention.mode || lock.until.getTime() <= Date.now())
    throw new HotcellError(
      'store_unavailable',
      `The policy asks for ${retention.days} days of ${retention.mode} retention, but the store did not lock the spec of run ${run} in ${store.record}. Use a store and a bucket with Object Lock, or take the retention out of the policy.`,
    );
  known.add(retention.mode);
}
