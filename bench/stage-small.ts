import { openBed } from '../test/support/bed.ts';
import { openHouse } from '../test/support/house.ts';
import { mib } from './support/cells.ts';
import { type Bench, median } from './support/row.ts';
import { smallSet } from './support/sets.ts';
import { stagingOf } from './support/staging.ts';
import { obstoreCopy, tools } from './support/tools.ts';

/** The concurrencies that the plain loop is tried with: the best counts. */
const tried = [8, 16, 32, 64, 128];

/** 20,000 files of 4 KiB into a cold cache, up to the tree. Baselines: a plain loop over the SDK, and obstore. */
export async function bench({ row, target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  const { python } = await tools(bed);
  const staging = await stagingOf(bed, house, smallSet(quick));
  const once: { atOnce: number; ms: number }[] = [];
  for (const atOnce of tried) once.push({ atOnce, ms: await staging.sdk(atOnce) });
  const { atOnce } = once.toSorted((a, b) => a.ms - b.ms)[0] ?? { atOnce: 32 };
  const figures = { ours: [] as number[], peak: [] as number[], sdk: [] as number[], obstore: [] as number[] };
  for (let i = 0; i < (quick ? 1 : 3); i++) {
    const { ms, peakBytes } = await staging.ours();
    figures.ours.push(ms / 1000);
    figures.peak.push(peakBytes / mib);
    figures.sdk.push((await staging.sdk(atOnce)) / 1000);
    if (python)
      figures.obstore.push(
        (await staging.other((bucket, prefix, to) => obstoreCopy(bed, python, 'get', bucket, prefix, to))) / 1000,
      );
  }
  const value = median(figures.ours);
  target({ name: 'stage-small', value, unit: 's', baseline: median(figures.sdk), target: 0.5 });
  row({ name: 'stage-small/sdk-at-once', value: atOnce, unit: 'requests' });
  if (python) row({ name: 'stage-small/obstore', value, unit: 's', baseline: median(figures.obstore) });
  else row({ name: 'stage-small/no-obstore-here', value, unit: 's' });
  row({ name: 'stage-small/memory', value: Math.max(...figures.peak), unit: 'MiB' });
}
