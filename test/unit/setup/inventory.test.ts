import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Installation } from '@hotcell/setup/settings/installation.ts';
import { inventoryOf } from '@hotcell/setup/inventory.ts';

const installationIn = (home: string, ownStore: boolean) =>
  ({ home, own: { store: ownStore, valkey: true }, store: { record: 'rec' } }) as Installation;

test('an inventory counts runs, snapshots and bytes of all tenants, and no record of an external store', async () => {
  const home = await mkdtemp(join(tmpdir(), 'hotcell-inventory-'));
  try {
    const put = async (path: string) => {
      const file = join(home, 'data/store/buckets/rec', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, '12345');
    };
    await put('runs/a/2026/11/01/r1/result.json');
    await put('runs/a/2026/11/01/r1/spec.json');
    await put('runs/b/2026/11/02/r2/result.json');
    await put('snapshots/a/records/s1.json');
    await put('snapshots/a/s1.jsonl');
    await put('snapshots/a/locations/l1.jsonl');
    assert.deepEqual(await inventoryOf(installationIn(home, true)), { runs: 2, snapshots: 1, bytes: 30 });
    assert.deepEqual(await inventoryOf(installationIn(home, false)), { runs: 0, snapshots: 0, bytes: 30 });
  } finally {
    await rm(home, { recursive: true });
  }
});
