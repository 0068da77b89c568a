import { inLanes } from '@hotcell/contract/lanes.ts';
import type { RunVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { LargeRoom } from './large-room.ts';
import type { RunAt } from './runs-in.ts';
import type { Verification } from './verification.ts';
import { verifyRun } from './verify-run.ts';

const atOnce = 16;

/** Verdicts in the order in which they come; none is kept. */
export async function verifyAll(
  of: Verification,
  runs: AsyncIterable<RunAt> | Iterable<RunAt>,
  tell: (verdict: RunVerdict) => void,
  verify: (of: Verification, at: RunAt) => Promise<RunVerdict | undefined> = verifyRun,
): Promise<void> {
  await inLanes(atOnce, runs, async (at) => {
    using room = new LargeRoom();
    const verdict = await verify({ ...of, room }, at);
    if (verdict) tell(verdict);
  });
}
