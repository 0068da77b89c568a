import assert from 'node:assert/strict';
import { inLanes } from '@hotcell/contract/lanes.ts';
import { languages } from '@hotcell/contract/languages.ts';
import { prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { follow, type TestCells } from './cells.ts';

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

/** Pairs of runs in cells that waited. The second looks beside the first in every other pair, and after it in the others. */
export async function runPairs({ cells, plan }: TestCells, pairs: number): Promise<void> {
  const served = new Set<string>();
  await inLanes(
    3,
    Array.from({ length: pairs }, (_, pair) => pair),
    async (pair) => {
      const env = { JOB_OF: `pair-${pair}-secret` };
      const [first, second] = await Promise.all([cells.open(plan('runc', { env })), cells.open(plan('runc'))]);
      try {
        for (const { id, warm } of [first, second]) {
          assert.ok(warm);
          assert.ok(!served.has(id), 'a cell served twice');
          served.add(id);
        }
        for await (const event of first.run(leaves)) {
          if (event.type !== 'log') continue;
          assert.match(event.bytes.toString(), /^left/);
          if (pair % 2 === 0) await first.destroy();
          assert.deepEqual((await follow(second, looks)).logs, ['[]\n']);
          break;
        }
      } finally {
        await Promise.all([first.destroy(), second.destroy()]);
      }
    },
  );
  assert.equal(served.size, 2 * pairs);
}
