import assert from 'node:assert/strict';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { asleep, type Child } from '../support/child.ts';

export type How = 'kill' | 'stop';

/** Waits until the process has died or stopped at its armed crash point. */
export async function fallen(child: Child, point: string, how: How): Promise<void> {
  await child.saying(`{"crashPoint":"${point}","how":"${how}"}`);
  if (how === 'kill') assert.equal((await child.ended).signal, 'SIGKILL');
  // It reports the point before it stops: a SIGCONT in between would be lost.
  else await asleep(child);
}

export const crashAt = (point: string, how: How) => ({ HOTCELL_CRASH_AT: `${point}:${how}` });

/** A few points at a time: all at once would overload the machine, one by one would wait for each lock in turn. */
export async function atEach(lanes: number, points: readonly string[], work: (point: string) => Promise<void>) {
  await inLanes(lanes, points, (point) =>
    work(point).catch((cause: unknown) => {
      throw new Error(`at ${point}`, { cause });
    }),
  );
}
