import { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { counted } from '@hotcell/contract/format.ts';
import { groupsOf } from '@hotcell/contract/groups.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { type RunId, timeOf } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { erasableSince, type PolicyRetention } from '@hotcell/contract/retention.ts';
import type { Buckets } from '../buckets.ts';
import { readResult } from '../commit.ts';
import { type EraseDeps, eraseRun, refuseStranger } from '../erase-run.ts';
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
/** So many are looked at before the first of them is erased. */
const groupSize = 1000;
/** One pass erases so many runs at most; the next one goes on. What can't be erased is not counted: it would be first again. */
const mostAtOnce = 10_000;
const dayMs = 86_400_000;

type Ending = 'erased' | 'held' | 'unverified';

type Erasing = ReadonlyMap<Digest, { name: string; retention: PolicyRetention }>;

/**
 * Erases the runs whose policies ask for that when their days are over: code and logs here, outputs by the collection that
 * follows. Nothing is erased unless a policy says so. Only runs that are old enough for the shortest of these policies are
 * looked at, and only a run that verifies is erased. Answers how many were, how many stay because something still holds
 * them, and how many because they don't verify.
 */
export async function eraseExpired(store: Buckets, options: EraseExpired): Promise<Record<Ending, number>> {
  const { by, now = Date.now(), tell, listed } = options;
  const policies = await erasingPolicies(store, tell);
  const count = { erased: 0, held: 0, unverified: 0 };
  if (policies.size === 0) return count;
  const before = new Date(now - Math.min(...[...policies.values()].map(({ retention }) => retention.days)) * dayMs);
  const isWanted = (result: Result) => expiredBy(result, policies, now) !== undefined;
  const endAs = (ending: Ending) => (count[ending] += 1);
  const openedOnce = openOnce(store, options);
  for await (const tenant of tenantsIn(store, 'runs/'))
    for await (const group of groupsOf(oldRuns(store, tenant, before), groupSize)) {
      const expired: ExpiredRun[] = [];
      await inLanes(readsAtOnce, group, async ({ run }) => {
        await unlessItStays(tell, endAs, async () => {
          const result = await readResult(store, tenant, run);
          const found = result && expiredBy(result, policies, now);
          if (found) expired.push(found);
        });
      });
      for (const one of expired) {
        if (count.erased >= mostAtOnce) {
          tell(`This pass ended after it erased ${counted(mostAtOnce, 'run')}. Run gc again for the rest.`);
          return count;
        }
        listed?.(one);
        const deps = await openedOnce();
        if (!deps) continue;
        await unlessItStays(tell, endAs, async () => {
          await eraseRun(deps, { tenant, run: one.run, by, reason: reasonOf(one), isWanted });
          endAs('erased');
        });
      }
    }
  return count;
}

/** A key that may not erase here ends no collection: that is told once, and the runs stay. */
function openOnce(store: Buckets, { eraser, tell }: EraseExpired): () => Promise<EraseDeps | undefined> {
  let opened: Promise<EraseDeps | undefined> | undefined;
  const open = async () => {
    if (!eraser) return undefined;
    try {
      const deps = { store, ...(await eraser()) };
      refuseStranger(deps);
      return deps;
    } catch (error) {
      if (!endingFor(error)) throw error;
      tell(`No run is erased: ${messageOf(error)}`);
      return undefined;
    }
  };
  return () => (opened ??= open());
}

/** What stays is told, and the others go on. */
async function unlessItStays(
  tell: (line: string) => void,
  endAs: (ending: Ending) => void,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const ending = endingFor(error);
    if (!ending) throw error;
    tell(messageOf(error));
    endAs(ending);
  }
}

/** A lock may be extended by hand, or by a clock of the store that is behind. A store that is away ends the pass. */
function endingFor(error: unknown): Ending | undefined {
  if (!(error instanceof HotcellError) || error.code === 'store_unavailable') return undefined;
  return error.code === 'forbidden' ? 'held' : 'unverified';
}

const reasonOf = ({ policy, days }: ExpiredRun) =>
  `the retention of the policy ${policy} is over (${counted(days, 'day')}, after: erase)`;

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
