import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothRuntimes } from './support/bed.ts';
import { Init } from './support/init.ts';

const whoAmI = `
import os
caps = {line.split(':')[0]: int(line.split()[1], 16) for line in open('/proc/self/status') if line.startswith('Cap')}
print(caps['CapInh'], caps['CapPrm'], caps['CapEff'], caps['CapBnd'], caps.get('CapAmb', 0))
print(*os.getresuid(), *os.getresgid(), os.getgroups())
print(os.getcwd(), os.getpid() == os.getsid(0) == os.getpgid(0))
print(sorted(f'{name}={value}' for name, value in os.environ.items()))
`;

/** The first block leaves a process running that keeps overwriting the second block's file. */
const usurper = `
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            try:
                with open('/work/sub/second.py', 'w') as f: f.write('print("usurped")')
            except OSError: pass
    os._exit(0)
os.wait()
while not os.path.exists('/work/sub/second.py'): pass
for what in (lambda: os.rename('/work/sub', '/work/gone'), lambda: os.unlink('/work/data.txt'),
             lambda: os.rename('/work/data.txt', '/work/x'), lambda: open('/work/data.txt', 'a'),
             lambda: os.chmod('/work/data.txt', 0o777), lambda: open('/work/sub/first.py', 'a')):
    try: what(); print('done')
    except PermissionError: print('denied')
`;

onBothRuntimes('blocks', (runtime, bed) => {
  test('run in order, in one cell, and stop at the first that fails', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({
      blocks: [
        'print("one"); open("/work/x", "w").write("kept")',
        { programs: ['cat'], args: ['/work/x'] },
        'import sys; sys.exit(3)',
        'print("never")',
      ],
    });
    assert.equal(report.stdout, 'one\nkept');
    assert.deepEqual(report.ends, [0, 0, 3]);
    assert.deepEqual(
      report.of('blockStarted').map(({ index }) => index),
      [0, 1, 2],
    );
    const { blocks, cause } = report.end;
    assert.deepEqual({ blocks, cause }, { blocks: 3, cause: 'none' });
  });

  test('have the cell’s uid, no capabilities, their own session and exactly the given environment', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({ blocks: [whoAmI], env: { GIVEN: 'a=b' } });
    const ids = Array(6).fill(init.uid).join(' ');
    const env = ['GIVEN=a=b', 'HOME=/work', 'LANG=C.UTF-8', 'PATH=/usr/local/bin:/usr/bin:/bin', 'PYTHONUNBUFFERED=1'];
    const said = `['${env.join("', '")}']`;
    assert.equal(report.stdout, `0 0 0 0 0\n${ids} []\n/work True\n${said}\n`);
  });

  test('run the code that was handed over, whatever earlier blocks leave behind', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({
      files: [{ path: 'data.txt', bytes: 'ours' }],
      blocks: [
        { path: 'sub/first.py', code: usurper },
        {
          path: 'sub/second.py',
          code: 'import os, stat\ns = os.stat(__file__)\nprint(s.st_uid, oct(s.st_mode), open("/work/data.txt").read())',
        },
      ],
    });
    assert.equal(report.stdout, `${'denied\n'.repeat(6)}0 0o100444 ours\n`);
    assert.deepEqual(report.ends, [0, 0]);
  });

  test('run the first program that the image has, and say so if it has none', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({
      blocks: [
        { programs: ['no-such-python', 'python3'], args: ['-c', 'print("second")'] },
        { programs: ['no-such-program', '/no/such/program'], args: [] },
      ],
    });
    assert.equal(report.of('blockStarted')[0]?.program, 1);
    assert.equal(report.stdout, 'second\n');
    assert.deepEqual(report.ends, [0, { how: 'notStarted', stage: 'exec', errno: 2 }]);
    assert.equal(report.end.blocks, 2);
  });

  test('end with their own process, even if another one holds their output open', async () => {
    await using init = await Init.start(bed(), runtime);
    const holder = 'import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\nprint("over")';
    const report = await init.run({
      blocks: [
        holder,
        'import os; print([p for p in os.listdir("/proc") if p.isdigit() and p not in ("1", str(os.getpid()))])',
      ],
    });
    assert.equal(report.stdout, 'over\n[]\n');
    assert.deepEqual(report.ends, [0, 0]);
  });

  test('may fill /work: the next block does not start, and says why', async () => {
    await using init = await Init.start(bed(), runtime);
    const fill =
      'f = open("/work/full", "wb")\ntry:\n    while True: f.write(bytes(65536)); f.flush()\nexcept OSError as e: print(e.errno)';
    const report = await init.run({ blocks: [fill, `print("never") # ${'x'.repeat(10_000)}`] });
    assert.deepEqual(report.ends, [0, { how: 'notStarted', stage: 'file', errno: 28 }]);
    assert.equal(report.end.blocks, 2);
  });
});
