import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openBed } from '../support/bed.ts';
import { mixedLoad } from '../support/mixed-load.ts';
import { withBed } from '../support/runner/bed.ts';

/** `npm run soak -- --minutes N --seed S`: mixed loads with troubles, one seed after the other, for so long. */
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: String(Date.now() % 1e9) } },
});
const end = Date.now() + Number(values.minutes) * 60_000;
const first = Number(values.seed);

process.exitCode = await withBed(join(import.meta.dirname, '../..'), async (leftOver) => {
  for (let seed = first; Date.now() < end; seed++) {
    try {
      await using bed = await openBed();
      const accepted = await mixedLoad(bed, seed, (step) => step < 40 && Date.now() < end);
      process.stdout.write(`seed ${seed}: ${accepted} runs, every promise kept\n`);
    } catch (error) {
      process.stdout.write(`seed ${seed}: BROKEN; again with --seed ${seed}\n`);
      throw error;
    }
  }
  const left = await leftOver();
  for (const line of left) process.stdout.write(`left over: ${line}\n`);
  return left.length > 0 ? 1 : 0;
});
