import assert from 'node:assert/strict';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { asleep, type Child } from '../support/child.ts';

export type How = 'kill' | 'stop';

/** Until the armed point was reached there. */
export async function fallen(child: Child, point: string, how: How): Promise<void> {
  await child.saying(`{"crashPoint":"${point}","how":"${how}"}`);
  if (how === 'kill') assert.equal((await child.ended).signal, 'SIGKILL');
  // It says so before it sleeps: who wakes it in between wakes nobody, and it sleeps on.
  else await asleep(child);
}

export const crashAt = (point: string, how: How) => ({ HOTCELL_CRASH_AT: `${point}:${how}` });

/** All points at once would only wait for the machine; a few at a time wait for locks to run out together. */
export async function atEach(lanes: number, points: readonly string[], work: (point: string) => Promise<void>) {
  await inLanes(lanes, points, (point) =>
    work(point).catch((cause: unknown) => {
      throw new Error(`at ${point}`, { cause });
    }),
  );
}
