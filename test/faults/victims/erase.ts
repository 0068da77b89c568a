/** Erases one run, for a test to kill. */
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { armCrashPoint } from '@hotcell/outside/process/crash.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { eraseRun } from '@hotcell/record/erase-run.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';

armCrashPoint(process.env['HOTCELL_CRASH_AT']);
using store = new Buckets(JSON.parse(process.env['STORE'] ?? '{}'));
const root = new SigningKey(process.env['ROOT'] ?? '');
const trusted = await trustedKeys(new StoreReader(store), [root.public]);
await eraseRun({ store, root, trusted }, JSON.parse(process.env['ASKED'] ?? '{}'));
