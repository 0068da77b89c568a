import assert from 'node:assert/strict';
import { openBed } from '../support/bed.ts';
import { floodBesideLight, longSweep } from '../support/crowds.ts';

const flood = 100_000;
const open = 1_000_000;
const leadMs = 10_000;
const mostMoreMiB = 256;

/** A hundred thousand runs of one tenant beside a light one, and a sweep through a million open runs. */
export async function fullCrowds(say: (line: string) => void, scale = 1): Promise<string> {
  await using bed = await openBed();
  const passed = await floodBesideLight(bed, { flood: flood * scale, light: 50 });
  say(`beside ${flood * scale} runs, at most ${passed} began before a light tenant's next`);
  assert.ok(passed <= 1);
  const before = process.memoryUsage().heapUsed;
  const swept = await longSweep(bed, { open: open * scale, leadMs });
  const grown = Math.round((process.memoryUsage().heapUsed - before) / 2 ** 20);
  say(`a sweep through ${open * scale} open runs ${swept}; ${grown} MiB more are held`);
  assert.ok(grown < mostMoreMiB, `the sweep holds ${grown} MiB`);
  return `${flood * scale} runs passed by, ${open * scale} swept`;
}
