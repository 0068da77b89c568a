import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { disksIn } from '@hotcell/executor-worker/cell/disk-bounds.ts';

test('every whole disk that has a size is bounded, and nothing that only looks like one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-disks-'));
  try {
    const sizes = { sda: 1000, nvme0n1: 5, 'cciss!c0d0': 7, vdb: 0, loop0: 9, zram0: 9, sr0: 9, 'dm-0': 1 };
    for (const [name, size] of Object.entries(sizes)) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'size'), `${size}\n`);
    }
    assert.deepEqual(await disksIn(folder), ['/dev/cciss/c0d0', '/dev/dm-0', '/dev/nvme0n1', '/dev/sda']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
