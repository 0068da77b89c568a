import { readWorkerSettings } from '@hotcell/executor-worker/worker-config.ts';
import { serve } from '@hotcell/executor-worker/pull/serve.ts';
import { armCrashPoint } from '@hotcell/outside/process/crash.ts';
import { Live } from '@hotcell/outside/live/live.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { Buckets, bucketsFrom } from '@hotcell/record/buckets.ts';
import { openSigner } from '@hotcell/record/signer.ts';
import { echoSteps } from '../../support/echo.ts';

/** A worker process with echo steps: everything of the real one except the cell. */
const settings = readWorkerSettings(process.env);
armCrashPoint(settings.HOTCELL_CRASH_AT);
const ends = new AbortController();
process.once('SIGTERM', () => ends.abort());
const log = openLog('victim', settings.HOTCELL_LOG_LEVEL);
using store = new Buckets(bucketsFrom(settings));
await using live = await Live.open({ url: settings.HOTCELL_REDIS_URL, installation: settings.HOTCELL_INSTALLATION });
const signer = await openSigner(settings.HOTCELL_STATE_DIR, 'worker', settings.HOTCELL_WORKER_NAME);
await serve({ settings, signer, store, live, log, steps: echoSteps }, ends.signal);
