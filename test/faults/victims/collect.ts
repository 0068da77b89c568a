/** A collector without its waiting time, for the crash tests to kill. */
import { armCrashPoint } from '@hotcell/outside/process/crash.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { collectGarbage } from '@hotcell/record/gc/collect-garbage.ts';

armCrashPoint(process.env['HOTCELL_CRASH_AT']);
using store = new Buckets(JSON.parse(process.env['STORE'] ?? '{}'));
await collectGarbage(store, { dryRun: false, wait: () => Promise.resolve() });
