import { setTimeout as pause } from 'node:timers/promises';
import { sayAlive } from '@hotcell/outside/process/alive.ts';
import { armCrashPoint } from '@hotcell/outside/process/crash.ts';
import { openEnding } from '@hotcell/outside/process/ending.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { Store } from '@hotcell/outside/store/store.ts';
import { readNotarySettings } from './notary-config.ts';
import { forgetOldKeys } from './forget.ts';
import { sequence } from './sequence.ts';

const everyMs = 1_000;
const forgetEveryMs = 3600_000;
const endMs = 15_000;

const settings = readNotarySettings(process.env);
armCrashPoint(settings.HOTCELL_CRASH_AT);
const log = openLog('notary', settings.HOTCELL_LOG_LEVEL);
using ending = openEnding(log, endMs);
const ends = ending.asked;
using store = new Store({
  endpoint: settings.HOTCELL_S3_ENDPOINT,
  region: settings.HOTCELL_S3_REGION,
  accessKey: settings.HOTCELL_S3_ACCESS_KEY,
  secretKey: settings.HOTCELL_S3_SECRET_KEY,
  record: settings.HOTCELL_RECORD_BUCKET,
  work: settings.HOTCELL_WORK_BUCKET,
});

let forgot = Number.NEGATIVE_INFINITY;
log.info('sequencing what is finished');
while (!ends.aborted) {
  sayAlive('notary');
  try {
    const count = await sequence({ store, log }, ends);
    if (count > 0) log.debug({ count }, 'sequenced');
    if (performance.now() - forgot > forgetEveryMs) {
      await forgetOldKeys(store, new Date(), ends);
      forgot = performance.now();
    }
  } catch (error) {
    log.warn({ error }, 'a pass was broken off: the next one goes on');
  }
  await pause(everyMs, undefined, { signal: ends }).catch(() => {
    // Asked to end: the loop sees it.
  });
}
