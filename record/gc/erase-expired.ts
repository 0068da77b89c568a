import { Digest } from '@hotcell/contract/digest.ts';
import { type ErrorCode, HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { counted } from '@hotcell/contract/format.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { type RunId, timeOf } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { erasableSince, type PolicyRetention } from '@hotcell/contract/retention.ts';
import type { Buckets } from '../buckets.ts';
import { readResult } from '../commit.ts';
import { type EraseAsked, type EraseDeps, eraseRun } from '../erase-run.ts';
import { recordKeys } from '../layout.ts';
import { PinnedPolicies } from '../pinned-policies.ts';
import { type RecordedRun, runsOf, tenantsIn } from '../recorded-runs.ts';

/** A run whose policy wants it erased by now. */
export interface ExpiredRun {
  tenant: string;
  run: RunId;
  policy: string;
  days: number;
  since: Date;
}

export interface EraseExpired {
  /** Asked for once there is a run to erase. Without it the runs are only told. */
  eraser?: (() => Promise<Pick<EraseDeps, 'root' | 'trusted'>>) | undefined;
  by: string;
  now?: number;
  tell: (line: string) => void;
  listed?: ((expired: ExpiredRun) => void) | undefined;
}

const readsAtOnce = 24;
/** One pass erases so many runs at most; the next one goes on. */
const mostAtOnce = 10_000;
const dayMs = 86_400_000;

type Ending = 'erased' | 'held' | 'unverified';

/** What stays is told, and the others go on. A lock may be extended by hand, or by a clock of the store that is behind. */
const endings: { readonly [code in ErrorCode]?: Ending } = { forbidden: 'held', conflict: 'unverified' };

type Erasing = ReadonlyMap<Digest, { name: string; retention: PolicyRetention }>;

/**
 * Erases the runs whose policies ask for that when their days are over: code and logs here, outputs by the collection that
 * follows. Nothing is erased unless a policy says so. Only runs that are old enough for the shortest of these policies are
 * looked at, and only a run that verifies is erased. Answers how many were, how many stay because something still holds
 * them, and how many because they don't verify.
 */
export async function eraseExpired(store: Buckets, options: EraseExpired): Promise<Record<Ending, number>> {
  const { eraser, by, now = Date.now(), tell, listed } = options;
  const policies = await erasingPolicies(store, tell);
  const count = { erased: 0, held: 0, unverified: 0 };
  if (policies.size === 0) return count;
  const before = new Date(now - Math.min(...[...policies.values()].map(({ retention }) => retention.days)) * dayMs);
  const done = () => count.erased + count.held + count.unverified;
  let deps: EraseDeps | undefined;
  for await (const tenant of tenantsIn(store, 'runs/')) {
    const expired: ExpiredRun[] = [];
    const left = mostAtOnce - done();
    await inLanes(readsAtOnce, oldRuns(store, tenant, before), async ({ run }) => {
      if (expired.length >= left) return;
      const result = await readResult(store, tenant, run);
      const found = result && expiredBy(result, policies, now);
      if (found) expired.push(found);
    });
    for (const one of expired.slice(0, left)) {
      listed?.(one);
      if (!eraser) continue;
      deps ??= { store, ...(await eraser()) };
      const isWanted = (result: Result) => expiredBy(result, policies, now) !== undefined;
      count[await eraseOne(deps, { ...one, by, isWanted }, tell)] += 1;
    }
  }
  if (done() >= mostAtOnce)
    tell(`This pass ended after ${counted(mostAtOnce, 'run')} whose retention is over. Run gc again for the rest.`);
  return count;
}

/** In the order of time, so that what is younger ends the search. Of a run without a spec there is no code any more. */
async function* oldRuns(store: Buckets, tenant: string, before: Date): AsyncGenerator<RecordedRun> {
  for await (const one of runsOf(store, tenant)) {
    if (timeOf(one.run) > before) return;
    if (one.ended && one.asked) yield one;
  }
}

/** What the result says, whether or not it is true: that is for the one who erases to verify. */
function expiredBy(result: Result, policies: Erasing, now: number): ExpiredRun | undefined {
  const { tenant, run, policy, timings } = result;
  const found = policy && policies.get(policy.digest);
  const since = found && erasableSince(found.retention, timings.finishedAt);
  if (!since || since.getTime() > now) return undefined;
  return { tenant, run, policy: found.name, days: found.retention.days, since };
}

async function eraseOne(
  deps: EraseDeps,
  { tenant, run, policy, days, by, isWanted }: ExpiredRun & Pick<EraseAsked, 'by' | 'isWanted'>,
  tell: (line: string) => void,
): Promise<Ending> {
  const reason = `the retention of the policy ${policy} is over (${counted(days, 'day')}, after: erase)`;
  try {
    await eraseRun(deps, { tenant, run, by, reason, ...(isWanted && { isWanted }) });
    return 'erased';
  } catch (error) {
    const ending = error instanceof HotcellError ? endings[error.code] : undefined;
    if (!ending) throw error;
    tell(messageOf(error));
    return ending;
  }
}

/** The pinned policies that ask for it. */
async function erasingPolicies(store: Buckets, tell: (line: string) => void): Promise<Erasing> {
  using pinned = new PinnedPolicies(store);
  const found = new Map<Digest, { name: string; retention: PolicyRetention }>();
  await inLanes(readsAtOnce, store.list(store.record, recordKeys.policies), async ({ key }) => {
    const named = Digest.safeParse(`sha256:${/^policies\/([^/]+)\.json$/.exec(key)?.[1]}`);
    if (!named.success) return;
    const digest = named.data;
    try {
      const { policy } = await pinned.get(digest);
      if (policy.retention?.after === 'erase') found.set(digest, { name: policy.name, retention: policy.retention });
    } catch (error) {
      if (!(error instanceof HotcellError)) throw error;
      tell(`The policy ${digest} can't be read, so nothing of its runs is erased: ${error.message}`);
    }
  });
  return found;
}
