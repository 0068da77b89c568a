import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { ends, openTestCells, runIn } from '../support/cells.ts';

const mib = 1024 * 1024;
let bed: Bed;
before(async () => {
  bed = await openBed();
});
after(() => bed?.[Symbol.asyncDispose]());

/** Past the page cache, as a program that wants to keep the disk busy does; and what the kernel bounds it to. */
const reading = `
import glob, mmap, os, time
began = time.monotonic()
file = os.open("/inputs/big", os.O_RDONLY | os.O_DIRECT)
room = mmap.mmap(-1, 1 << 20)
done = sum(os.preadv(file, [room], at << 20) for at in range(4))
seconds = time.monotonic() - began
bounds = glob.glob("/sys/fs/cgroup/blkio/blkio.throttle.read_bps_device") + glob.glob("/sys/fs/cgroup/io.max")
print(done, seconds, *(word for path in bounds for word in open(path).read().split() if "1048576" in word))
`;

async function read(diskBytesPerSecond: number) {
  await using made = await openTestCells(bed, 'disk-speed', bed.id(), { diskBytesPerSecond });
  const inputs = join(made.stateDir, 'cache', 'inputs');
  await mkdir(inputs, { recursive: true, mode: 0o755 });
  await writeFile(join(inputs, 'big'), Buffer.alloc(4 * mib, 'x'), { mode: 0o444 });
  const job = prepareJob({ blocks: [{ language: 'python', code: reading }], files: [] }, languages);
  const told = await runIn(made.cells, made.plan('runc', { mounts: [{ source: inputs, target: '/inputs' }] }), job);
  assert.deepEqual(ends(told), [0], told.logs.join(''));
  const [bytes, seconds, ...bounds] = told.logs.join('').trim().split(' ');
  assert.equal(Number(bytes), 4 * mib);
  return { seconds: Number(seconds), bounds };
}

suite('a cell', () => {
  test('reads the host’s disks no faster than its worker lets it', async () => {
    const { seconds, bounds } = await read(mib);
    assert.ok(bounds.length > 0, 'the kernel bounds it');
    assert.ok(seconds > 2, `4 MiB at 1 MiB a second took ${seconds} s`);
  });
  test('has no bound where its worker has none', async () => {
    assert.deepEqual((await read(0)).bounds, []);
  });
});
