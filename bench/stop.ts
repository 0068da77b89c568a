import { openBed } from '../test/support/bed.ts';
import { openTestCells } from '../test/support/cells.ts';
import { jobOf, mib, runtimes, wide } from './support/cells.ts';
import type { Bench } from './support/row.ts';

const stubborn = `
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0: os.setsid()
    except OSError: time.sleep(0.01)
`;

/** How long after its limit and its grace a program that forks and does not listen is dead, all of it. */
export async function bench({ target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using made = await openTestCells(bed, 'stop');
  const limits = {
    ...wide,
    timeoutSeconds: quick ? 2 : 5,
    graceSeconds: 1,
    memoryBytes: 1024 * mib,
    pids: 64,
    cpus: 1,
  };
  const late = async (runtime: (typeof runtimes)[number]): Promise<number> => {
    const cell = await made.cells.open(made.plan(runtime, { limits }));
    try {
      let started = 0;
      let ended = 0;
      for await (const event of cell.run(jobOf({ language: 'python', code: stubborn }))) {
        if (event.type === 'block_started') started = performance.now();
        if (event.type === 'block_ended') {
          if (!event.end.timedOut) throw new Error('it was not stopped at its limit');
          ended = performance.now();
        }
      }
      if (ended === 0) throw new Error('the cell died');
      return ended - started - (limits.timeoutSeconds + limits.graceSeconds) * 1000;
    } finally {
      await cell.destroy();
    }
  };
  for (const runtime of runtimes)
    for (const parallel of [1, 8]) {
      const times = await Promise.all(Array.from({ length: parallel }, () => late(runtime)));
      target({ name: `stop/${runtime}-${parallel}`, value: Math.max(...times), unit: 'ms', target: 1000 });
    }
}
