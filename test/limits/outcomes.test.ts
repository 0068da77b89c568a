import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { mib, openRuns, python, runtimes, type Runs, wrote } from './support/runs.ts';

let bed: Bed;
let runs: Runs;
before(async () => {
  bed = await openBed();
  runs = await openRuns(bed, 'outcomes');
});
after(async () => {
  await runs?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

/** Ignores SIGTERM, and so do its detached grandchildren. */
const stubborn = `
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork() > 0: os._exit(0)
        while True: time.sleep(1000)
open("/outputs/kept", "w").write("kept")
# In one write: who reads it may have the cell killed before a second.
os.write(1, b"here\\n")
while True: time.sleep(1000)
`;

/** Takes memory without end and writes to all of it. */
const hog = `held = []
while True: held.append(bytearray(b"x" * (4 << 20)))
`;
const files = (count: number, size: number) =>
  `for n in range(${count}):\n    with open("/outputs/%d" % n, "wb") as f: f.write(bytes(${size}))\n`;

for (const runtime of runtimes)
  suite(`on ${runtime} a run`, { concurrency: 2 }, () => {
    test('succeeds and reports its usage', async () => {
      const ran = await runs.run(runtime, {
        blocks: python('open("/outputs/a", "w").write("12345")', 'print("done")'),
      });
      assert.equal(ran.verdict.outcome, 'succeeded');
      assert.equal(ran.verdict.exitCode, 0);
      assert.equal(ran.verdict.reason, 'All 2 blocks ended with exit code 0.');
      const { wallMs, cpuMs, peakMemoryBytes, logBytes, outputBytes, outputFiles } = ran.usage;
      assert.deepEqual({ logBytes, outputBytes, outputFiles }, { logBytes: 5, outputBytes: 5, outputFiles: 1 });
      assert.ok(wallMs > 0 && cpuMs > 0 && peakMemoryBytes > mib, JSON.stringify(ran.usage));
    });

    test('fails with its own exit code, or with the signal that ended it', async () => {
      const own = await runs.run(runtime, { blocks: python('import sys; print("no"); sys.exit(3)', '1') });
      assert.deepEqual([own.verdict.outcome, own.verdict.exitCode], ['failed', 3]);
      assert.match(own.verdict.reason, /failed \(exit code 3\)\. See the log above\.$/);
      const signal = await runs.run(runtime, { blocks: python('import os; os.kill(os.getpid(), 9)') });
      assert.deepEqual([signal.verdict.outcome, signal.verdict.exitCode], ['failed', 137]);
      assert.match(signal.verdict.reason, /SIGKILL/);
    });

    test('that ignores SIGTERM is timed out and keeps its log and outputs (54, 55, 56)', async () => {
      const ran = await runs.run(runtime, { blocks: python(stubborn), limits: { timeoutSeconds: 8, graceSeconds: 0 } });
      assert.equal(ran.verdict.outcome, 'timed_out');
      assert.match(ran.verdict.reason, /^The run reached its time limit of 8 s.*, after \S+ s\. .*--timeout/);
      assert.equal(wrote(ran).toString(), 'here\n');
      assert.deepEqual(
        ran.outputs.files.map(({ path }) => path),
        ['kept'],
      );
    });

    test('that is cancelled names the canceller and the reason, and keeps its log and outputs', async () => {
      const ran = await runs.run(runtime, {
        blocks: python(stubborn),
        limits: { graceSeconds: 0 },
        onRows: (_, stop) => stop.abort({ kind: 'cancelled', by: 'anna', reason: 'not needed' }),
      });
      assert.deepEqual([ran.verdict.outcome, ran.verdict.exitCode], ['cancelled', null]);
      assert.equal(ran.verdict.reason, 'Cancelled by anna: not needed');
      assert.equal(wrote(ran).toString(), 'here\n');
      assert.equal(ran.outputs.files[0]?.path, 'kept');
    });

    test('exceeds its output limit by bytes or by number, and keeps what fits', async () => {
      const bytes = await runs.run(runtime, { blocks: python(files(3, 1.5 * mib)) });
      assert.deepEqual([bytes.verdict.outcome, bytes.verdict.exitCode], ['output_exceeded', 0]);
      assert.match(
        bytes.verdict.reason,
        /limit of 4 MiB \(kept 3 MiB in 2 files, refused 1\)\. Write less, or .*limits\.outputBytes/,
      );
      assert.deepEqual([bytes.outputs.files.length, bytes.outputs.refused.length], [2, 1]);
      const number = await runs.run(runtime, { blocks: python(files(53, 1)) });
      assert.equal(number.verdict.outcome, 'output_exceeded');
      assert.match(
        number.verdict.reason,
        /limit of 50 \(kept .* in 50 files, refused 3\)\. Write fewer, or .*limits\.outputFiles/,
      );
      assert.deepEqual([number.outputs.files.length, number.outputs.refused.length], [50, 3]);
    });

    test('that fails because /outputs is full ends as output_exceeded and says both', async () => {
      const ran = await runs.run(runtime, { blocks: python(files(6, 1.5 * mib)) });
      assert.deepEqual([ran.verdict.outcome, ran.verdict.exitCode], ['output_exceeded', 1]);
      assert.match(ran.verdict.reason, /limit of 4 MiB .*limits\.outputBytes.*failed \(exit code 1\)/);
      assert.match(wrote(ran).toString(), /No space left on device/);
    });

    test('whose log is too long goes on with a warning, or ends if the policy says so', async () => {
      const endless = 'import sys\nwhile True: sys.stdout.write("x" * 99 + "\\n")';
      const stopped = await runs.run(runtime, { blocks: python(endless), pastLimit: 'stop' });
      assert.equal(stopped.verdict.outcome, 'output_exceeded');
      assert.match(
        stopped.verdict.reason,
        /^The log grew past its limit of 1 MiB \(\S+ \S+ written\).*limits\.logBytes/,
      );
      const long = await runs.run(runtime, {
        blocks: python('for i in range(30_000): print("x" * 99)\nprint("last")'),
      });
      assert.equal(long.verdict.outcome, 'succeeded', long.verdict.reason);
      assert.match(
        long.verdict.warnings.join(),
        /^The log is longer than its limit of 1 MiB .*beginning and end are kept\.$/,
      );
      assert.match(wrote(long).toString(), /last\n$/);
    });

    test('that runs out of memory names the limit, the peak and what to do', async () => {
      const ran = await runs.run(runtime, { blocks: python('open("/outputs/kept", "w").write("kept")', hog) });
      assert.deepEqual([ran.verdict.outcome, ran.verdict.exitCode], ['out_of_memory', null], ran.verdict.reason);
      assert.match(ran.verdict.reason, /^The run exceeded its memory limit of 256 MiB \(.*--memory/);
      if (runtime === 'runc') assert.equal(ran.outputs.files[0]?.path, 'kept');
    });
  });
