import { restUnlessAborted } from '@hotcell/contract/waits.ts';
import { sayAlive } from '@hotcell/outside/process/alive.ts';
import { armCrashPoint } from '@hotcell/outside/process/crash.ts';
import { openEnding } from '@hotcell/outside/process/ending.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { Buckets, bucketsFrom, reportUnreadable } from '@hotcell/record/buckets.ts';
import { readNotarySettings } from './notary-config.ts';
import { forgetOldKeys } from '@hotcell/record/forget-keys.ts';
import { clearFinished } from './clear-finished.ts';

const everyMs = 1_000;
const forgetEveryMs = 3600_000;
const endMs = 15_000;

const settings = readNotarySettings(process.env);
armCrashPoint(settings.HOTCELL_CRASH_AT);
const log = openLog('notary', settings.HOTCELL_LOG_LEVEL);
using ending = openEnding(log, endMs);
const ends = ending.asked;
using store = new Buckets(bucketsFrom(settings), reportUnreadable(log));

let forgot = Number.NEGATIVE_INFINITY;
log.info('clearing up behind finished runs');
while (!ends.aborted) {
  sayAlive('notary');
  try {
    const count = await clearFinished({ store, log }, ends);
    if (count > 0) log.debug({ count }, 'cleared up behind runs');
    if (performance.now() - forgot > forgetEveryMs) {
      await forgetOldKeys(store, new Date(), ends);
      forgot = performance.now();
    }
  } catch (error) {
    log.warn({ error }, 'a pass broke off; the next one goes on');
  }
  await restUnlessAborted(everyMs, ends);
}
