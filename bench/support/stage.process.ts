/** Stages one snapshot into an empty cache, as a worker does. */
import { InputCache } from '@hotcell/executor-worker/inputs/cache.ts';
import { stageInputs } from '@hotcell/executor-worker/inputs/stage.ts';
import { Contents } from '@hotcell/record/contents.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { sayAtEnd } from './own-process.ts';

const { store: settings, folder, tenant, inputs: asked } = JSON.parse(process.env['ASKED'] ?? '{}');
using store = new Buckets(settings);
await using contents = new Contents(settings);
await using inputs = await InputCache.open({ folder, maxBytes: 2 ** 40 }, contents, openLog('bench', 'silent'));
const since = performance.now();
await using _there = await stageInputs({ store, inputs }, { tenant, inputs: asked, params: {} });
sayAtEnd(performance.now() - since);
