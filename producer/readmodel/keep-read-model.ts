import { allShards } from '@hotcell/record/run-marks.ts';
import { setTimeout as pause } from 'node:timers/promises';
import type { Live } from '@hotcell/outside/live/live.ts';
import { compareAll, compareShard } from './compare-shard.ts';
import type { RowDeps } from './read-rows.ts';
import type { RecordFollower } from './record-follower.ts';

/** All shards in four minutes: messages keep it fresh, this only finds what they lost. */
const shardEveryMs = 15_000;

export interface KeepDeps extends Omit<RowDeps, 'signal'> {
  live: Live;
  follower: RecordFollower;
}

/** Follows the record, and compares the open runs: all whenever messages may have been lost, else one shard at a time. */
export function keepReadModel(deps: KeepDeps): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const work = { ...deps, signal };
  const reconnected = deps.live.onReconnected(() => void attempt(work, () => compareAll(work)));
  const comparing = (async () => {
    await attempt(work, () => compareAll(work));
    for (let turn = 0; ; turn++) {
      await pause(shardEveryMs, undefined, { signal });
      await attempt(work, () => compareShard(work, allShards[turn % allShards.length] ?? '0'));
    }
  })();
  comparing.catch(() => undefined);
  const following = deps.follower.follow(signal);
  return {
    async [Symbol.asyncDispose]() {
      reconnected[Symbol.dispose]();
      stop.abort();
      await Promise.allSettled([comparing, following]);
    },
  };
}

/** Lists may lag; they must not take the producer down. */
async function attempt({ log, signal }: RowDeps, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!signal.aborted)
      log.warn({ err: error }, 'the read model is behind the buckets; the next comparison tries again');
  }
}
