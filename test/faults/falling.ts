import assert from 'node:assert/strict';
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

/** All of them at once would only wait for the machine; a few at a time wait for locks to run out together. */
export async function inLanes(
  lanes: number,
  items: readonly string[],
  work: (item: string) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
        const point = item;
        await work(point).catch((cause: unknown) => {
          throw new Error(`at ${point}`, { cause });
        });
      }
    }),
  );
}
