import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { observationIn } from '../hostile/support/load.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { mib, openRuns, python, runtimes, type Runs } from './support/runs.ts';
import { startWeak } from './support/weak.ts';

const helpers = await readFile(join(import.meta.dirname, '../hostile/support/attack.py'), 'utf8');
const files = [{ path: 'attack.py', text: helpers }];
const memoryBytes = 96 * mib;

/** Each takes about three times the memory of the cell, and succeeds if it gets it. */
const bombs = {
  'on its heap': `
held = [bytearray(b"x" * (4 << 20)) for _ in range(72)]
`,
  'in files of its scratch, none of which is full': `
for folder in ("/tmp", "/work", "/dev/shm"):
    with open(folder + "/fill", "wb") as file:
        for _ in range(88): file.write(bytes(1 << 20))
`,
  'in shared memory of System V, again and again': `
libc.shmat.restype = ctypes.c_void_p
for _ in range(18):
    segment = libc.shmget(0, 16 << 20, 0o600)
    ctypes.memset(libc.shmat(segment, None, 0), 1, 16 << 20)
`,
};
const programs = Object.fromEntries(
  Object.entries(bombs).map(([where, code]) => [where, `from attack import *${code}observe(seen="ok")`]),
);

let bed: Bed;
let runs: Runs;
before(async () => {
  bed = await openBed();
  runs = await openRuns(bed, 'memory');
});
after(async () => {
  await runs?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

for (const runtime of runtimes)
  suite(`on ${runtime}`, () => {
    let weak: ReadonlyMap<string, string>;
    before(async () => {
      await using unlimited = await startWeak(bed, runtime, programs);
      weak = await unlimited.said();
    });
    test('a block whose child is killed for memory succeeds with a warning, or the run ends as out of memory', async () => {
      const child = `
import os
if os.fork() == 0: held = [bytearray(b"x" * (4 << 20)) for _ in range(72)]
os.wait()
`;
      for (const codes of [[child], [child, 'pass'], ['pass', child]]) {
        const ran = await runs.run(runtime, { blocks: python(...codes), limits: { memoryBytes } });
        const index = codes.indexOf(child);
        const outcomes = ran.blocks.map(({ outcome }) => outcome);
        // The kernel chooses its victim among gVisor's processes: if it takes the sandbox's own, the cell ends there.
        if (runtime === 'gvisor' && ran.verdict.outcome === 'out_of_memory') {
          assert.match(
            ran.verdict.reason,
            /^The run exceeded its memory limit of 96 MiB .*gVisor ended the whole sandbox/,
          );
          assert.deepEqual(
            outcomes,
            codes.map((_, i) => (i < index ? 'succeeded' : i === index ? 'out_of_memory' : null)),
          );
          assert.deepEqual([ran.verdict.exitCode, ran.verdict.warnings], [null, []]);
          continue;
        }
        const seen = [ran.verdict.outcome, outcomes, ran.verdict.exitCode];
        assert.deepEqual(seen, ['succeeded', codes.map(() => 'succeeded'), 0], ran.verdict.reason);
        assert.deepEqual(
          ran.verdict.warnings.map((warning) => warning.replace(/\. .*/, '')),
          [`Block ${index} succeeded, but the kernel killed 1 of its processes for lack of memory (limit 96 MiB)`],
        );
      }
    });
    for (const [where, code] of Object.entries(programs)) {
      // On runc the kernel limits the segments themselves: see resources.test.ts.
      if (runtime === 'runc' && where.includes('System V')) continue;
      test(`a program that takes too much memory ${where} ends its own run (44, 46)`, async () => {
        const limits = { memoryBytes, scratchBytes: 90 * mib, fileBytes: 90 * mib };
        const ran = await runs.run(runtime, { blocks: python(code), files, limits });
        assert.deepEqual([ran.verdict.outcome, ran.verdict.exitCode], ['out_of_memory', null], ran.verdict.reason);
        assert.match(
          ran.verdict.reason,
          /^The run exceeded its memory limit of 96 MiB \(.+\)\. Use less at once, or .*--memory/,
        );
        assert.equal(ran.blocks[0]?.outcome, 'out_of_memory');
        assert.equal(observationIn(weak.get(where) ?? '', where, 'the weak container')['seen'], 'ok');
      });
    }
  });
