import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import type { TestCells } from '../support/cells.ts';
import { openWaitedCells } from '../support/waited-cells.ts';
import { runPairs } from '../support/waited-pairs.ts';

let bed: Bed;
let cells: TestCells;
before(async () => {
  bed = await openBed();
  cells = await openWaitedCells(bed, 'waited-pairs');
});
after(async () => {
  await cells?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

test('nothing of one run is visible to another, in 30 pairs of cells that waited', () => runPairs(cells, 30));
