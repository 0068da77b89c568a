import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PostureRecord } from '@hotcell/contract/frames-posture.ts';
import type { ExpectedPosture } from '@hotcell/contract/posture/posture-expected.ts';
import type { CreateOptions, Inspected } from '@hotcell/outside/engine/engine.ts';

/** What real cells reported, on runc and on a gVisor of 2024 and of 2026, and what the engine said of them. */
interface Recorded {
  records: PostureRecord[];
  expected: ExpectedPosture;
  asked: CreateOptions;
  made: Inspected;
}
export const recorded = (runtime: string): Recorded =>
  JSON.parse(readFileSync(join(import.meta.dirname, `postures/${runtime}.json`), 'utf8'));
