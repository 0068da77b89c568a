import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import type { KeptSnapshot } from '@hotcell/record/snapshot-store.ts';
import { fileUse, treeUse } from '@hotcell/executor-worker/inputs/disk-use.ts';
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

// More files than are linked at once, so that a process can die within a tree. Threads fetch their contents.
const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d${i % 7}/f${i}`, `content ${i % 100}`]));
// The main thread fetches these.
const few = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d${i % 7}/f${i}`, `content ${i % 5}`]));
const tenant = bed.tenant();
const trees = { many, few };
const frozen = { many: await freezeTree(house, tenant, many), few: await freezeTree(house, tenant, few) };
const filler = await freezeTree(house, tenant, { filler: Buffer.alloc(4000, 'f') });

/** So small that the filler must be evicted before the other snapshot fits. */
const treeOfMany = treeUse({ files: 300, folders: 8 });
const treeOfFiller = treeUse({ files: 1, folders: 1 });
const maxBytes = 100 * fileUse(10) + treeOfMany + 20;

async function stageOnce(folder: string, snapshot: KeptSnapshot, crashAt: string) {
  const settings = { ...bed.installation.store, record: house.store.record, work: house.store.work };
  const inputs = [{ name: 'in', snapshot: snapshot.snapshot, locations: snapshot.locations }];
  await using child = spawnNode('test/faults/victims/stage-once.ts', {
    STAGE: JSON.stringify({ store: settings, folder, maxBytes, tenant, inputs }),
    HOTCELL_CRASH_AT: crashAt,
  });
  return { ...(await child.ended), said: child.said() };
}

for (const [which, point] of [
  ['few', 'input-written'],
  ['few', 'input-synced'],
  ['few', 'input-renamed'],
  ['many', 'input-written'],
  ['many', 'input-synced'],
  ['many', 'input-renamed'],
  ['many', 'tree-linking'],
  ['many', 'tree-linked'],
  ['many', 'tree-described'],
  ['many', 'tree-stands'],
  ['many', 'inputs-laid-out'],
  ['many', 'tree-leaving'],
  ['many', 'tree-left'],
] as const) {
  test(`after a death at ${point} with ${which} contents there is no partial tree, and the next start cleans up`, async () => {
    const folder = join(await bed.folder('cache'), 'cache');
    {
      await using contents = await contentsAs(house, 'worker');
      await using inputs = await openCache(bed, contents, maxBytes, folder);
      await (await staged(house, inputs, tenant, { in: filler }))[Symbol.asyncDispose]();
    }
    const killed = await stageOnce(folder, frozen[which], point);
    assert.equal(killed.signal, 'SIGKILL', killed.said);
    assert.match(killed.said, new RegExp(`"crashPoint":"${point}"`));
    const tree = join(folder, 'tenants', tenant, 'trees', hexOf(frozen[which].snapshot));
    if (existsSync(tree)) assert.equal(readdirSync(tree, { recursive: true }).length, 307);
    await using contents = await contentsAs(house, 'worker');
    await using inputs = await openCache(bed, contents, maxBytes, folder);
    const { unfinished, leaving, runs } = inputs.places;
    for (const place of [unfinished, leaving, runs]) assert.deepEqual(readdirSync(place), []);
    await using there = await staged(house, inputs, tenant, { in: frozen[which] });
    const root = there.mounts[1]?.source ?? '';
    for (const [path, text] of Object.entries(trees[which])) assert.equal(readFileSync(join(root, path), 'utf8'), text);
    // The account matches the disk.
    const held = readdirSync(join(folder, 'tenants', tenant, 'files'), { recursive: true, withFileTypes: true });
    const sizes = held
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)).length);
    const beside = join(folder, 'tenants', tenant, 'trees', hexOf(filler.snapshot));
    const linked = treeOfMany + (existsSync(beside) ? treeOfFiller : 0);
    assert.equal(
      sizes.reduce((sum, size) => sum + fileUse(size), linked),
      inputs.bytes,
    );
    assert.ok(inputs.bytes <= maxBytes);
  });
}

test('contents fetched before a death are not fetched again', async () => {
  const folder = join(await bed.folder('cache'), 'cache');
  await stageOnce(folder, frozen.many, 'tree-linked');
  for (let i = 0; i < 100; i++) {
    const hex = hexOf(sha256(`content ${i}`));
    assert.ok(existsSync(join(folder, 'tenants', tenant, 'files', hex.slice(0, 2), hex)));
  }
});
