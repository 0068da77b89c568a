import { openBed } from '../test/support/bed.ts';
import { spawnNode } from '../test/support/child.ts';
import { openHouse } from '../test/support/house.ts';
import { resultOf, settled } from '../test/support/promise.ts';
import { until } from '../test/support/until.ts';
import { cancelRun } from '@hotcell/producer/cancel.ts';
import type { Bench } from './support/row.ts';

/** A worker with four runs is killed: how long until another has all four. */
export async function bench({ target }: Bench): Promise<void> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  const env = await house.settings('worker', { HOTCELL_WORKER_NAME: 'victim' });
  await using victim = spawnNode('test/faults/victims/worker.ts', env);
  const runs: string[] = [];
  for (let i = 0; i < 4; i++) runs.push((await house.submit('hold')).run);
  const allAt = (worker: string) =>
    until(`${worker} has them`, async () => {
      const beats = await house.producer.live.statusesOf(runs);
      return beats.every((beat) => beat?.worker === worker && beat.status === 'running');
    });
  await allAt('victim');
  await house.worker('rescuer');
  victim.kill('SIGKILL');
  const since = performance.now();
  await allAt('rescuer');
  target({ name: 'recover', value: (performance.now() - since) / 1000, unit: 's', target: 10 });
  for (const run of runs) {
    await cancelRun(house.producer, { tenant: house.tenant, run, by: 'bench', reason: 'measured' });
    await resultOf(house, run);
  }
  await settled(house, runs);
}
