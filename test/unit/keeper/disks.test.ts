import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { blockIo, diskBounds } from '@hotcell/keeper/disks.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'hotcell-disks-'));
  const disks = { sda: [1000, '8:0'], vdb: [0, '254:16'], loop0: [9, '7:0'], nvme0n1: [5, '259:0'] } as const;
  for (const [name, [size, dev]] of Object.entries(disks)) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'size'), `${size}\n`);
    writeFileSync(join(folder, name, 'dev'), `${dev}\n`);
  }
});
after(() => rmSync(folder, { recursive: true }));

const found = [
  { major: 259, minor: 0 },
  { major: 8, minor: 0 },
];

test('every whole disk that has a size is bounded, in bytes and in operations', () => {
  const bounds = diskBounds(32 * 1024, { boundsDisks: true }, folder);
  assert.deepEqual(bounds, { bytes: 32 * 1024, operations: 2, disks: found });
  assert.deepEqual(blockIo(bounds).throttleReadIOPSDevice, [
    { major: 259, minor: 0, rate: 2 },
    { major: 8, minor: 0, rate: 2 },
  ]);
});

test('nothing is bounded where the kernel can’t or the operator does not want it', () => {
  assert.equal(diskBounds(1024, { boundsDisks: false }, folder), undefined);
  assert.equal(diskBounds(0, { boundsDisks: true }, folder), undefined);
});
