import { readWorkerSettings } from '@hotcell/executor-worker/worker-config.ts';
import { serve } from '@hotcell/executor-worker/pull/serve.ts';
import { armCrashPoint } from '@hotcell/outside/process/crash.ts';
import { Live } from '@hotcell/outside/live/live.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { Store } from '@hotcell/outside/store/store.ts';
import { echoSteps } from '../../support/echo.ts';

/** A worker process that echoes: everything of the real one but the cell. */
const settings = readWorkerSettings(process.env);
armCrashPoint(settings.HOTCELL_CRASH_AT);
const ends = new AbortController();
process.once('SIGTERM', () => ends.abort());
const log = openLog('victim', settings.HOTCELL_LOG_LEVEL);
using store = new Store({
  endpoint: settings.HOTCELL_S3_ENDPOINT,
  region: settings.HOTCELL_S3_REGION,
  accessKey: settings.HOTCELL_S3_ACCESS_KEY,
  secretKey: settings.HOTCELL_S3_SECRET_KEY,
  record: settings.HOTCELL_RECORD_BUCKET,
  work: settings.HOTCELL_WORK_BUCKET,
});
await using live = await Live.open({ url: settings.HOTCELL_REDIS_URL, installation: settings.HOTCELL_INSTALLATION });
await serve({ settings, store, live, log, steps: echoSteps }, ends.signal);
