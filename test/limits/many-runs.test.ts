import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { mib, openRuns, type Runs } from './support/runs.ts';
import { held, hostileRuns, leftOf } from './support/hostile-runs.ts';

let bed: Bed;
let runs: Runs;
before(async () => {
  bed = await openBed();
  runs = await openRuns(bed, 'many');
});
after(async () => {
  await runs?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

/** Every tenth run is on gVisor, each time with another program. */
const runtimeOf = (n: number) => (n % 10 === 9 ? 'gvisor' : 'runc');

test('two hundred hostile runs leave nothing behind, neither on the host nor in the worker', async () => {
  // The check finds a cell while there is one.
  const cell = await runs.cells.cells.open(runs.cells.plan('runc'));
  assert.match((await leftOf(bed, runs)).join(), /^the cell /);
  await cell.destroy();

  await hostileRuns(runs, { count: 60, runtimeOf });
  const early = await held();
  await hostileRuns(runs, { first: 60, count: 140, runtimeOf });
  const late = await held();
  assert.deepEqual(await leftOf(bed, runs), []);
  const grown = { bytes: late.bytes - early.bytes, descriptors: late.descriptors - early.descriptors };
  assert.ok(grown.bytes < 8 * mib, `${grown.bytes} bytes more are held`);
  assert.ok(grown.descriptors < 70, `${grown.descriptors} descriptors more are open`);
});
