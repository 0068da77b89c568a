import { openBed } from '../test/support/bed.ts';
import { openHouse } from '../test/support/house.ts';
import { mib } from './support/cells.ts';
import { type Bench, median } from './support/row.ts';
import { bigSet } from './support/sets.ts';
import { stagingOf } from './support/staging.ts';
import { hashedAndSynced, s5cmdCopy, tools } from './support/tools.ts';

/** 2 GiB in 64 files into a cold cache, hashed and synced. Baselines: s5cmd, which does neither, and s5cmd with both after it. */
export async function bench({ row, target, quick }: Bench): Promise<void> {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  const { s5cmd } = await tools(bed);
  const staging = await stagingOf(bed, house, bigSet(quick));
  const figures = { ours: [] as number[], peak: [] as number[], s5cmd: [] as number[], same: [] as number[] };
  for (let i = 0; i < (quick ? 1 : 3); i++) {
    const { ms, peakBytes } = await staging.ours();
    figures.ours.push(ms / 1000);
    figures.peak.push(peakBytes / mib);
    if (!s5cmd) continue;
    let more = 0;
    const copied = await staging.other(async (bucket, prefix, to) => {
      const ms = await s5cmdCopy(bed, s5cmd, `s3://${bucket}/${prefix}*`, `${to}/`);
      more = await hashedAndSynced(to);
      return ms;
    });
    figures.s5cmd.push(copied / 1000);
    figures.same.push((copied + more) / 1000);
  }
  const value = median(figures.ours);
  if (s5cmd) {
    target({ name: 'stage-big', value, unit: 's', baseline: median(figures.s5cmd), target: 1.5 });
    row({ name: 'stage-big/s5cmd-sha256sum-sync', value, unit: 's', baseline: median(figures.same) });
  } else row({ name: 'stage-big/no-s5cmd-here', value, unit: 's' });
  target({ name: 'stage-big/memory', value: Math.max(...figures.peak), unit: 'MiB', target: 200 });
}
