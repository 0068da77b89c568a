import { openBed } from '../support/bed.ts';
import { openWaitedCells } from '../support/waited-cells.ts';
import { runPairs } from '../support/waited-pairs.ts';

/** Nothing of one run is visible to another in 1,000 pairs of cells that waited. */
export async function manyWaitedPairs(pairs = 1_000): Promise<string> {
  await using bed = await openBed();
  await using cells = await openWaitedCells(bed, 'waited-soak');
  await runPairs(cells, pairs);
  return `${pairs} pairs, nothing of one visible to the other`;
}
