import assert from 'node:assert/strict';
import { held, hostileRuns, leftOf } from '../limits/support/hostile-runs.ts';
import { mib, openRuns } from '../limits/support/runs.ts';
import { openBed } from '../support/bed.ts';

const count = 1000;

/** A thousand hostile runs, a tenth of them on gVisor: nothing is left, and this process does not grow. */
export async function manyHostileRuns(say: (line: string) => void): Promise<string> {
  await using bed = await openBed();
  await using runs = await openRuns(bed, 'soak');
  const runtimeOf = (n: number) => (n % 10 === 9 ? 'gvisor' : 'runc');
  await hostileRuns(runs, { count: 100, runtimeOf });
  const early = await held();
  for (let first = 100; first < count; first += 100) {
    await hostileRuns(runs, { first, count: 100, runtimeOf });
    say(`${first + 100} hostile runs`);
  }
  const late = await held();
  assert.deepEqual(await leftOf(bed, runs), []);
  assert.ok(late.bytes - early.bytes < 16 * mib, `${late.bytes - early.bytes} bytes more are held`);
  assert.ok(late.descriptors - early.descriptors < 70, 'descriptors are left open');
  return `${count} runs, nothing left, ${((late.bytes - early.bytes) / mib).toFixed(1)} MiB more held`;
}
