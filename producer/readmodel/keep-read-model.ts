import { allShards } from '@hotcell/record/run-marks.ts';
import { setTimeout as pause } from 'node:timers/promises';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Logger } from '@hotcell/outside/process/log.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { compareAll, compareShard, fillFromRecord } from './fill.ts';
import type { ReadModel } from './read-model.ts';

/** All shards in four minutes: messages keep it fresh, this only finds what they lost. */
const shardEveryMs = 15_000;

export interface KeepDeps {
  store: Buckets;
  live: Live;
  model: ReadModel;
  log: Logger;
}

/** Catches up at start and whenever messages may have been lost, and compares one shard at a time. */
export function keepReadModel(deps: KeepDeps): AsyncDisposable {
  const stop = new AbortController();
  const work = { ...deps, signal: stop.signal };
  const reconnected = deps.live.onReconnected(() => void attempt(deps.log, stop.signal, () => compareAll(work)));
  const running = (async () => {
    await attempt(deps.log, stop.signal, () => catchUp(work));
    for (let turn = 0; ; turn++) {
      await pause(shardEveryMs, undefined, { signal: stop.signal });
      await attempt(deps.log, stop.signal, () => compareShard(work, allShards[turn % allShards.length] ?? '0'));
    }
  })();
  running.catch(() => undefined);
  return {
    async [Symbol.asyncDispose]() {
      reconnected[Symbol.dispose]();
      stop.abort();
      await Promise.allSettled([running]);
    },
  };
}

/** From the day before the newest known run: another producer may have accepted runs while this one was down. */
async function catchUp(deps: KeepDeps & { signal: AbortSignal }): Promise<void> {
  const newest = deps.model.newest();
  const from = newest === undefined ? undefined : new Date(Date.parse(newest) - 86_400_000).toISOString().slice(0, 10);
  await fillFromRecord(deps, from?.replaceAll('-', '/'));
  await compareAll(deps);
}

/** Lists may lag; they must not take the producer down. */
async function attempt(log: Logger, signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!signal.aborted)
      log.warn({ err: error }, 'the read model is behind the buckets; the next comparison tries again');
  }
}
