import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Limits } from '@hotcell/contract/limits.ts';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { type Bed, engineSocket, openBed } from '../test/support/bed.ts';
import { openTestCells } from '../test/support/cells.ts';
import { jobOf, mib, type Plain, plainContainer, type Runtime, runtimes, took, wide } from './support/cells.ts';
import { type Bench, median } from './support/row.ts';

const stubborn = `
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0: os.setsid()
    except OSError: time.sleep(0.01)
`;

/**
 * The time from the end of its grace until a program that forks and ignores signals is dead with all its processes.
 * Baseline: the engine's kill of a container with the same program, as many at once.
 */
export async function bench({ row, target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using made = await openTestCells(bed, 'stop');
  const engine = new Engine(engineSocket);
  const limits: Limits = {
    ...wide,
    timeoutSeconds: quick ? 2 : 5,
    graceSeconds: 1,
    memoryBytes: 1024 * mib,
    pids: 64,
    cpus: 1,
  };
  const late = async (runtime: Runtime): Promise<number> => {
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
  const killed = async (runtime: Runtime): Promise<number> => {
    await using plain = await stormIn(bed, runtime, limits);
    await plain.start();
    await pause(limits.timeoutSeconds * 1000);
    // The engine's answer may come too late for the call although the container ended.
    return took(() => Promise.allSettled([engine.kill(plain.id), plain.ended()]));
  };
  for (const runtime of runtimes)
    for (const parallel of [1, 8]) {
      const slowest = async (one: (runtime: Runtime) => Promise<number>) =>
        Math.max(...(await Promise.all(Array.from({ length: parallel }, () => one(runtime)))));
      const ours: number[] = [];
      const theirs: number[] = [];
      for (let round = 0; round < (quick ? 1 : 5); round++) {
        ours.push(await slowest(late));
        theirs.push(await slowest(killed));
      }
      const name = `stop/${runtime}-${parallel}`;
      target({ name, value: median(ours), unit: 'ms', target: 1000 });
      row({ name: `${name}-beside-kill`, value: median(ours), unit: 'ms', baseline: median(theirs) });
    }
}

/** The limits on a storm: processes per uid, memory, processor. */
function stormIn(bed: Bed, runtime: Runtime, limits: Limits): Promise<Plain> {
  const uid = randomInt(50_000, 60_000);
  return plainContainer(bed, runtime, ['python3', '-c', stubborn], {
    User: `${uid}:${uid}`,
    HostConfig: {
      Memory: limits.memoryBytes,
      CpuPeriod: 100_000,
      CpuQuota: limits.cpus * 100_000,
      Ulimits: [{ Name: 'nproc', Soft: limits.pids, Hard: limits.pids }],
    },
  });
}
