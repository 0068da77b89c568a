import { join } from 'node:path';
import { must } from '@hotcell/setup/command.ts';
import { z } from 'zod';
import { openBed } from '../test/support/bed.ts';
import { openHouse } from '../test/support/house.ts';
import { openOwnKeeper } from '../test/support/own-keeper.ts';
import { settle, startProducer } from '../test/support/producer.ts';
import { pythonWithClient } from '../test/support/python-client.ts';
import { spawnWorker } from '../test/support/real-worker.ts';
import { cpuOf, residentOf } from './support/process-account.ts';
import type { Bench } from './support/row.ts';

const Figure = z.object({ name: z.string(), value: z.number(), baseline: z.number().optional() });

const targets: Readonly<Record<string, { unit: string; target?: number; atLeast?: boolean }>> = {
  'end-to-end/print': { unit: 'ms', target: 1 },
  'end-to-end/pandas': { unit: 'ms', target: 1.1 },
  'throughput/4': { unit: 'runs/s', target: 1.5, atLeast: true },
  'throughput/16': { unit: 'runs/s', target: 1.5, atLeast: true },
};

/**
 * Runs as a client sees them: an HTTP request, its answer once the run has ended in a fresh cell and is recorded. Baseline:
 * AutoGen's warm calls in its open container, on the same image. Then where a run's milliseconds and processor time go, and
 * what worker and keeper hold at rest.
 */
export async function bench({ row, target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  const python = await pythonWithClient(bed);
  await using house = await openHouse(bed);
  const stateDir = await bed.folder('whole-runs');
  await using keeper = await openOwnKeeper(bed, join(stateDir, 'cache'), house.id);
  await using producer = await startProducer(bed, house);
  await using worker = await spawnWorker(bed, house, 'one', {
    HOTCELL_STATE_DIR: stateDir,
    HOTCELL_CELLS: 'keeper',
    HOTCELL_KEEPER_SOCKET: keeper.socket,
  });
  await worker.saying('ready for tickets');
  const pids = {
    worker: worker.process.pid ?? 0,
    keeper: await keeper.pid(),
    producer: producer.child.process.pid ?? 0,
  };
  const atRest = residentOf(pids.worker) + residentOf(pids.keeper);
  target({ name: 'rest-memory', value: atRest / 1024 ** 2, unit: 'MiB', target: 200 });

  const before = Object.entries(pids).map(([name, pid]) => ({ name, pid, ms: cpuOf(pid) }));
  const sizes = quick ? ['10', '40'] : ['40', '100'];
  const script = join(import.meta.dirname, 'support/whole_runs.py');
  const env = { HOTCELL_URL: producer.url, HOTCELL_API_KEY: await producer.key() };
  const said = await must([python, script, ...sizes, bed.images.python.ref, await bed.folder('autogen')], { env });
  const figures = said
    .trim()
    .split('\n')
    .map((line) => Figure.parse(JSON.parse(line)));
  for (const { name, value, baseline } of figures) {
    const { unit, ...wanted } = targets[name] ?? { unit: 'ms' };
    const figure = { name, value, unit, ...(baseline !== undefined && { baseline }) };
    if (wanted.target === undefined) row(figure);
    else target({ ...figure, ...wanted, target: wanted.target });
  }
  // Both programs, the two rates, the burst, and two runs of each program before.
  const [rounds, burst] = sizes.map(Number) as [number, number];
  const runs = 2 * (rounds + 2) + 2 * 4 * rounds + burst;
  for (const { name, pid, ms } of before) row({ name: `run-cpu/${name}`, value: (cpuOf(pid) - ms) / runs, unit: 'ms' });
  await settle(house, producer);
  worker.kill('SIGTERM');
  await worker.ended;
}
