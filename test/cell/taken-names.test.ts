import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import { openTestCells, type TestCells } from '../support/cells.ts';

let bed: Bed;
let made: TestCells;
const engine = new Engine(engineSocket);
before(async () => {
  bed = await openBed();
  made = await openTestCells(bed, 'taken-names', bed.id(), { dockerHost: engineSocket });
});
after(async () => {
  await made?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

test('concurrent cells have different uids, and a name that is taken is skipped', async () => {
  const image = await engine.image(bed.images.minimal.digest);
  const first = await made.cells.open(made.plan('runc'));
  const after = `hotcell-cell-${Number(first.container.replace('hotcell-cell-', '')) + 1}`;
  const taken = await engine.create(after, {
    Image: image.Id,
    Cmd: ['/bin/minimal', 'exit'],
    Labels: { 'hotcell.managed': '1', 'hotcell.installation': bed.installation.id, 'hotcell.role': 'test' },
  });
  try {
    const second = await made.cells.open(made.plan('runc'));
    try {
      assert.ok(![first.container, after].includes(second.container));
      assert.notDeepEqual(first.posture.inside.ids, second.posture.inside.ids);
    } finally {
      await second.destroy();
    }
  } finally {
    await first.destroy();
    if (taken !== undefined) await engine.remove(taken);
  }
});
