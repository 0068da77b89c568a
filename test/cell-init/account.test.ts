import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothRuntimes } from './support/bed.ts';
import { Init } from './support/init.ts';

const hog = 'x = [bytearray(b"x" * (1 << 20)) for _ in range(1 << 12)]';

onBothRuntimes('the account of a block', (runtime, bed) => {
  test('has wall time, processor time and memory', async () => {
    await using init = await Init.start(bed(), runtime);
    const busy =
      'import time\nb = bytearray(b"x" * 60_000_000)\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass';
    const report = await init.run({ blocks: [busy, 'pass'] });
    const [first, second] = report.of('blockEnded');
    assert.ok(first && second);
    assert.ok(first.wallUs >= 500_000, `wall ${first.wallUs}`);
    assert.ok((first.account.cpuUs ?? 0) >= 400_000, `cpu ${first.account.cpuUs}`);
    assert.ok((second.account.cpuUs ?? 0) > 0);
    assert.ok((report.end.account.cpuUs ?? 0) >= (first.account.cpuUs ?? 0));
    assert.ok((report.end.account.peakMemoryBytes ?? 0) >= 60_000_000, `memory ${report.end.account.peakMemoryBytes}`);
  });

  // gVisor's sandbox holds all memory: running out of it may end the whole cell, which the engine reports.
  const outcome = runtime === 'runc' ? 'reports the kernel’s kills' : 'is killed, or its whole cell is';
  test(`that exhausts the memory ${outcome}`, async () => {
    await using init = await Init.start(bed(), runtime);
    const child = `import os, sys\npid = os.fork()\nif pid == 0:\n    ${hog}\nsys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != -9)`;
    const report = await init.run({ blocks: ['open("/outputs/kept", "w").write("kept")', child, hog] });
    if (runtime === 'gvisor' && report.of('end').length === 0) {
      assert.equal(await init.engine.wait(init.container, 60_000), 137);
      return;
    }
    assert.deepEqual(report.ends, [0, 0, { how: 'signalled', signal: 9 }]);
    // What the kernel does to gVisor's processes, init cannot see there.
    if (runtime === 'gvisor') return;
    assert.deepEqual(report.causes, ['none', 'none', 'none']);
    const kills = report.of('blockEnded').map(({ account }) => account.oomKills ?? 0);
    assert.equal(kills[0], 0);
    assert.ok((kills[1] ?? 0) >= 1 && (kills[2] ?? 0) >= 1, kills.join());
    assert.equal(report.outputs['kept']?.toString(), 'kept');
  });

  const starved = `
import os
open('/outputs/kept', 'wb').write(b'kept' * 10_000)
for top in ('/tmp', '/dev/shm', '/work'):
    with open(top + '/fill', 'wb') as f:
        try:
            while True: f.write(bytes(65536)); f.flush()
        except OSError: pass
`;
  test('that exhausts the memory by files alone leaves init enough to report it', async () => {
    await using init = await Init.start(bed(), runtime, { memoryBytes: 96 << 20, scratchBytes: 64 << 20 });
    const report = await init.run({ blocks: [starved] });
    if (runtime === 'gvisor') {
      assert.deepEqual(report.of('end'), []);
      assert.equal(await init.engine.wait(init.container, 60_000), 137);
      return;
    }
    assert.deepEqual(report.ends, [{ how: 'signalled', signal: 9 }]);
    assert.ok((report.end.account.oomKills ?? 0) >= 1);
    assert.equal(report.outputs['kept']?.length, 40_000);
    assert.equal(report.end.outputsIncomplete, false);
  });
});
