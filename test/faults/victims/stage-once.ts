/** Stages one snapshot, prints where the tree is, and ends, for the crash tests to kill. */
import { openLog } from '@hotcell/outside/process/log.ts';
import { armCrashPoint } from '@hotcell/outside/process/crash.ts';
import { Contents } from '@hotcell/record/contents.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { InputCache } from '@hotcell/executor-worker/inputs/cache.ts';
import { stageInputs } from '@hotcell/executor-worker/inputs/stage.ts';

const asked = JSON.parse(process.env['STAGE'] ?? '{}');
armCrashPoint(process.env['HOTCELL_CRASH_AT']);
using store = new Buckets(asked.store);
await using contents = new Contents(asked.store);
await using inputs = await InputCache.open(
  { folder: asked.folder, maxBytes: asked.maxBytes },
  contents,
  openLog('stage', 'silent'),
);
const spec = { tenant: asked.tenant, inputs: asked.inputs, params: {} };
await using there = await stageInputs({ store, inputs }, spec);
process.stderr.write(`staged ${there.mounts[1]?.source}\n`);
