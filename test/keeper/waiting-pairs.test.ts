import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { follow, type TestCells } from '../support/cells.ts';
import { openWaitedCells } from '../support/waited-cells.ts';

/** Pairs of runs in cells that waited: nothing that the first has or leaves is visible to the second beside it or after it. */
let bed: Bed;
let cells: TestCells & AsyncDisposable;
before(async () => {
  bed = await openBed();
  cells = await openWaitedCells(bed, 'waited-pairs');
});
after(async () => {
  await cells?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

const python = (code: string) => prepareJob({ blocks: [{ language: 'python', code }], files: [] }, languages);

const sysv = `
import ctypes, os, glob
libc = ctypes.CDLL(None, use_errno=True)
key = 0x4863`;
const leaves = python(`${sysv}
for folder in ("/work", "/tmp", "/dev/shm", "/outputs"):
    open(folder + "/secret", "w").write("secret")
os.environ["SECRET"] = "secret"
assert libc.shmget(key, 4096, 0o1666) >= 0
if os.fork() == 0:
    os.setsid()
    open("/proc/self/comm", "w").write("secret")
    while True: os.pause() if hasattr(os, "pause") else __import__("signal").pause()
print("left", flush=True)
import signal; signal.pause()`);
const looks = python(`${sysv}
found = [name for folder in ("/work", "/tmp", "/dev/shm", "/outputs", "/inputs")
         for _, folders, names in os.walk(folder) for name in folders + names if "secret" in name]
found += [name for name, value in os.environ.items() if "secret" in name.lower() + value]
found += ["a segment"] if libc.shmget(key, 4096, 0) >= 0 else []
found += [open(one).read() for one in glob.glob("/proc/[0-9]*/comm") if "secret" in open(one).read()]
print(found)`);

test('nothing of one run is visible to another, in 30 pairs', async () => {
  const served = new Set<string>();
  await inLanes(
    3,
    Array.from({ length: 30 }, (_, pair) => pair),
    async (pair) => {
      const env = { JOB_OF: `pair-${pair}-secret` };
      const [first, second] = await Promise.all([
        cells.cells.open(cells.plan('runc', { env })),
        cells.cells.open(cells.plan('runc')),
      ]);
      try {
        for (const { id, warm } of [first, second]) {
          assert.ok(warm);
          assert.ok(!served.has(id), 'a cell served twice');
          served.add(id);
        }
        for await (const event of first.run(leaves)) {
          if (event.type !== 'log') continue;
          assert.match(event.bytes.toString(), /^left/);
          // The first still runs beside the second in every other pair.
          if (pair % 2 === 0) await first.destroy();
          assert.deepEqual((await follow(second, looks)).logs, ['[]\n']);
          break;
        }
      } finally {
        await Promise.all([first.destroy(), second.destroy()]);
      }
    },
  );
  assert.equal(served.size, 60);
});
