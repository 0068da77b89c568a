import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { must } from '@hotcell/setup/command.ts';
import { openBed } from '../support/bed.ts';
import { freezeTree } from '../support/freezing.ts';
import { openHouse } from '../support/house.ts';
import { resultOf, settled } from '../support/promise.ts';
import { pinSmallest, smallest, spawnWorker } from '../support/real-worker.ts';

const mib = 1024 * 1024;

/** A disk of this size, which can really become full. */
async function smallDisk(folder: string, bytes: number): Promise<AsyncDisposable> {
  await must(['mount', '-t', 'tmpfs', '-o', `size=${bytes},mode=0755`, 'hotcell-test', folder]);
  return { [Symbol.asyncDispose]: async () => void (await must(['umount', folder])) };
}

test('staging on a full disk evicts cached inputs; if that is not enough the run says so, and the next one has room', async () => {
  await using bed = await openBed();
  await using house = await openHouse(bed);
  const real = await pinSmallest(bed, house);
  const stateDir = await bed.folder('small');
  await using _disk = await smallDisk(stateDir, 48 * mib);
  // The cache's own limit is far larger than this disk.
  await using worker = await spawnWorker(bed, house, 'one', { HOTCELL_STATE_DIR: stateDir });
  const runs: string[] = [];
  const ranWith = async (size: number) => {
    const { snapshot, locations } = await freezeTree(house, house.tenant, { 'data.bin': randomBytes(size * mib) });
    const inputs = [{ name: 'in', snapshot, locations, source: 'a test' }];
    const { run } = await house.submit('', smallest(real, ['echo', 'hello'], { inputs }));
    runs.push(run);
    return await resultOf(house, run);
  };
  // The third fits only if the others are evicted, which costs no attempt.
  for (const size of [16, 16, 32]) {
    const { outcome, reason, attempts } = await ranWith(size);
    assert.deepEqual([outcome, attempts.length], ['succeeded', 1], reason);
  }
  const never = await ranWith(64);
  assert.equal(never.outcome, 'lost');
  assert.equal(never.attempts.length, 3);
  for (const { error } of never.attempts) assert.match(error?.message ?? '', /The disk of this worker is full/);
  assert.equal((await ranWith(16)).outcome, 'succeeded');
  await settled(house, runs);
  await worker.stop();
  for (const place of ['cache/unfinished', 'cache/leaving', 'cache/runs'])
    assert.deepEqual(await readdir(join(stateDir, place)), [], place);
  // Only cells that the engine makes have a folder of the worker's.
  assert.deepEqual(existsSync(join(stateDir, 'cells')) ? await readdir(join(stateDir, 'cells')) : [], []);
});
