import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { onBothRuntimes } from './support/bed.ts';
import { Init } from './support/init.ts';

/** 3 MiB of random bytes on each stream in odd portions, with their digests as outputs. */
const noise = `
import hashlib, os, random
random.seed(7)
sums = {1: hashlib.sha256(), 2: hashlib.sha256()}
left = {1: 3 << 20, 2: 3 << 20}
while any(left.values()):
    fd = random.choice([fd for fd in left if left[fd]])
    chunk = random.randbytes(min(left[fd], random.randint(1, 200_000)))
    os.write(fd, chunk) if len(chunk) <= 4096 else [os.write(fd, chunk[i:i + 4096]) for i in range(0, len(chunk), 4096)]
    sums[fd].update(chunk); left[fd] -= len(chunk)
for fd in sums: open(f'/outputs/{fd}', 'w').write(sums[fd].hexdigest())
`;

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `${from + i}\n`.padStart(8, '0')).join('');
const count = (to: number) => `import sys\nfor i in range(${to}): sys.stdout.write(f'{i:07}\\n')`;

onBothRuntimes('a log', (runtime, bed) => {
  test('has every byte of both streams, and a slow reader loses none', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({ blocks: [noise] }, async () => {
      await new Promise((resolve) => setImmediate(resolve));
    });
    const sums = { 1: report.log('stdout'), 2: report.log('stderr') };
    for (const [fd, bytes] of Object.entries(sums))
      assert.equal(report.outputs[fd]?.toString(), createHash('sha256').update(bytes).digest('hex'));
    assert.equal(report.end.stdoutBytes, 3 * 2 ** 20);
    assert.equal(report.end.stderrBytes, 3 * 2 ** 20);
    assert.equal(report.of('blockEnded')[0]?.logBytes, 6 * 2 ** 20);
  });

  test('past its limit has its head, its tail and the size of the gap', async () => {
    await using init = await Init.start(bed(), runtime);
    const limits = { logHeadBytes: 10_000, logTailBytes: 65_536 };
    const report = await init.run({ blocks: [count(100_000), 'print("last words")'], limits });
    const all = `${numbers(0, 100_000)}last words\n`;
    const head = report.log('stdout', false).toString();
    const tail = report.log('stdout', true).toString();
    assert.equal(head, all.slice(0, 10_000));
    assert.ok(tail.length > 8192 && all.endsWith(tail), `the tail has ${tail.length} bytes`);
    assert.deepEqual(report.of('logTail'), [
      { type: 'logTail', droppedStdout: all.length - head.length - tail.length, droppedStderr: 0 },
    ]);
    assert.deepEqual(report.ends, [0, 0]);
    assert.equal(report.of('logLimit').length, 1);
    assert.equal(report.of('log').at(-1)?.index, 1);
  });

  test('that just fits its limit is whole and reports no limit', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({ blocks: [count(1000)], limits: { logHeadBytes: 8000 } });
    assert.equal(report.stdout, numbers(0, 1000));
    assert.deepEqual([report.of('logLimit'), report.of('logTail')], [[], []]);
  });

  test('past its limit stops the job if the policy says so, and keeps the last output', async () => {
    await using init = await Init.start(bed(), runtime);
    const endless = `
import signal, sys
def leave(*_): print('last words'); sys.exit(9)
signal.signal(signal.SIGTERM, leave)
while True: print('x' * 100)
`;
    const limits = { logHeadBytes: 1000, logLimitEnds: true };
    const report = await init.run({ blocks: [endless, 'print("never")'], limits });
    assert.deepEqual(report.ends, [9]);
    assert.deepEqual(report.causes, ['logLimit']);
    assert.equal(report.log('stdout', false).length, 1000);
    assert.match(report.log('stdout', true).toString(), /last words\n$/);
  });

  test('of single bytes comes in a bounded number of frames', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({ blocks: ['import os\nfor i in range(50_000): os.write(1, b"x")'] });
    assert.equal(report.stdout, 'x'.repeat(50_000));
    // 1,000 small reads pass at once, then one a millisecond, and one after each pause of 4 ms.
    const logs = report.of('log');
    const elapsedMs = ((logs.at(-1)?.atUs ?? 0) - (logs[0]?.atUs ?? 0)) / 1000;
    assert.ok(logs.length <= 1100 + 1.25 * elapsedMs, `${logs.length} frames in ${elapsedMs} ms`);
  });
});
