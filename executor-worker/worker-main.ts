import { join } from 'node:path';
import { Contents, loadSources } from '@hotcell/record/contents.ts';
import { uidsOf } from '@hotcell/contract/uid-range.ts';
import { armCrashPoint } from '@hotcell/outside/process/crash.ts';
import { openEnding } from '@hotcell/outside/process/ending.ts';
import { Live } from '@hotcell/outside/live/live.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { PinnedPolicies } from '@hotcell/record/pinned-policies.ts';
import { probeAtStart } from '@hotcell/outside/process/probe-at-start.ts';
import { Buckets, bucketsFrom, reportUnreadable } from '@hotcell/record/buckets.ts';
import { openSigner, requestListing } from '@hotcell/record/signer.ts';
import { openCells } from './cell/open.ts';
import { afterDrainMs, readWorkerSettings } from './worker-config.ts';
import { HalfUploads } from './half-uploads.ts';
import { keepHouse } from './housekeeping.ts';
import { InputCache } from './inputs/cache.ts';
import { scrub } from './inputs/scrub.ts';
import { judgePinned } from './pull/judge.ts';
import { serve } from './pull/serve.ts';
import { stageJudged } from './inputs/stage.ts';
import { PinnedClasses } from './waiting/pinned-classes.ts';
import { WaitingCells } from './waiting/pool.ts';
import type { Steps } from './worker.ts';

const settings = readWorkerSettings(process.env);
armCrashPoint(settings.HOTCELL_CRASH_AT);
const log = openLog('executor-worker', settings.HOTCELL_LOG_LEVEL);
using ending = openEnding(log, settings.HOTCELL_DRAIN_SECONDS * 1000 + afterDrainMs);
const ends = ending.asked;

const { HOTCELL_INSTALLATION: installation, HOTCELL_REDIS_URL: url, HOTCELL_STATE_DIR: stateDir } = settings;
const buckets = bucketsFrom(settings);
await probeAtStart({ store: buckets, redisUrl: url }, 30_000);
using store = new Buckets(buckets, reportUnreadable(log));
await using live = await Live.open({ url, installation });
using policies = new PinnedPolicies(store);
await using contents = new Contents(buckets, loadSources(settings.HOTCELL_SOURCES));
const cache = { folder: join(stateDir, 'cache'), maxBytes: settings.HOTCELL_CACHE_BYTES };
await using inputs = await InputCache.open(cache, contents, log);
const worker = settings.HOTCELL_WORKER_NAME;
const signer = await openSigner(stateDir, 'worker', worker);
await requestListing(store, signer, log);
const { HOTCELL_DOCKER_HOST: dockerHost } = settings;
const keeper = settings.HOTCELL_CELLS === 'keeper' ? settings.HOTCELL_KEEPER_SOCKET : undefined;
await using cells = await openCells({
  dockerHost,
  keeper,
  installation,
  worker,
  stateDir,
  uids: uidsOf(settings.HOTCELL_UIDS),
  diskBytesPerSecond: settings.HOTCELL_CELL_DISK_BYTES_PER_SECOND,
  log,
});

await using waiting = new WaitingCells({
  cells,
  places: inputs.places,
  most: settings.HOTCELL_WAITING_CELLS,
  pins: settings.HOTCELL_PINNED_CELLS,
  classes: new PinnedClasses(stateDir, log),
  log,
});

const steps: Steps = {
  judge: async (spec) => judgePinned(await policies.get(spec.policy.digest), spec),
  stage: (spec, effective, options) => stageJudged({ store, inputs, policies }, spec, effective, options),
  ready: () => cells.ready(),
  seal: (plan, left, asked) => waiting.seal(plan, left, asked),
};

const uploads = new HalfUploads(store, live);
const house = keepHouse({ live, log, uploads, reap: (isAlive) => cells.reap(isAlive) }, ends);
const scrubbing = scrub(inputs, log, ends);
const figures = { stuck: () => cells.stuck(), cacheBytes: () => inputs.bytes };
await serve({ settings, store, live, log, steps, signer, waiting, ...figures }, ends);
await Promise.all([house, scrubbing]);
