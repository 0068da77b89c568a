import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import type { KeptSnapshot } from '@hotcell/outside/snapshot-record.ts';
import { openBed } from '../support/bed.ts';
import { spawnNode } from '../support/child.ts';
import { contentsAs, freezeTree, openCache, staged } from '../support/freezing.ts';
import { openHouse } from '../support/house.ts';

const bed = await openBed();
const house = await openHouse(bed);
after(async () => {
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

// More files than are linked at once, so that a death in the middle of a tree is one.
const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d${i % 7}/f${i}`, `content ${i % 5}`]));
const tenant = bed.tenant();
const frozen = await freezeTree(house, tenant, many);
const filler = await freezeTree(house, tenant, { filler: Buffer.alloc(4000, 'f') });

/** Small enough that the filler has to leave before the other snapshot fits. */
const maxBytes = 4020;

async function stageOnce(folder: string, snapshot: KeptSnapshot, crashAt?: string) {
  const settings = { ...bed.installation.store, record: house.store.record, work: house.store.work };
  const inputs = [{ name: 'in', snapshot: snapshot.snapshot, locations: snapshot.locations }];
  await using child = spawnNode('test/faults/victims/stage-once.ts', {
    STAGE: JSON.stringify({ store: settings, folder, maxBytes, tenant, inputs }),
    ...(crashAt ? { HOTCELL_CRASH_AT: crashAt } : {}),
  });
  return { ...(await child.ended), said: child.said() };
}

for (const point of [
  'input-written',
  'input-synced',
  'input-renamed',
  'tree-linking',
  'tree-linked',
  'tree-described',
  'tree-stands',
  'inputs-laid-out',
  'tree-leaving',
  'tree-left',
]) {
  test(`after a death at ${point} no half tree stands, and the next start goes on and leaves nothing behind`, async () => {
    const folder = join(await bed.folder('cache'), 'cache');
    {
      await using contents = await contentsAs(house, 'worker');
      await using inputs = await openCache(bed, contents, maxBytes, folder);
      await (await staged(house, inputs, tenant, { in: filler }))[Symbol.asyncDispose]();
    }
    const killed = await stageOnce(folder, frozen, point);
    assert.equal(killed.signal, 'SIGKILL', killed.said);
    assert.match(killed.said, new RegExp(`"crashPoint":"${point}"`));
    const tree = join(folder, 'tenants', tenant, 'trees', hexOf(frozen.snapshot));
    if (existsSync(tree)) assert.equal(readdirSync(tree, { recursive: true }).length, 307);
    await using contents = await contentsAs(house, 'worker');
    await using inputs = await openCache(bed, contents, maxBytes, folder);
    for (const place of [inputs.places.unfinished, inputs.places.leaving, inputs.places.runs])
      assert.deepEqual(readdirSync(place), []);
    await using there = await staged(house, inputs, tenant, { in: frozen });
    const root = there.mounts[1]?.source ?? '';
    for (const [path, text] of Object.entries(many)) assert.equal(readFileSync(join(root, path), 'utf8'), text);
    // What the account says is what lies there.
    const held = readdirSync(join(folder, 'tenants', tenant, 'files'), { recursive: true, withFileTypes: true });
    const sizes = held
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)).length);
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      inputs.bytes,
    );
    assert.ok(inputs.bytes <= maxBytes);
  });
}

test('contents that came before a death are not fetched again', async () => {
  const folder = join(await bed.folder('cache'), 'cache');
  await stageOnce(folder, frozen, 'tree-linked');
  for (let i = 0; i < 5; i++) {
    const hex = hexOf(sha256(`content ${i}`));
    assert.ok(existsSync(join(folder, 'tenants', tenant, 'files', hex.slice(0, 2), hex)));
  }
});
