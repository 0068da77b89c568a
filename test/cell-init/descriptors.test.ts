import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothRuntimes } from './support/bed.ts';
import { Init } from './support/init.ts';

const list = `
import os, sys
def is_open(fd):
    try: return bool(os.fstat(fd))
    except OSError: return False
print([fd for fd in range(256) if is_open(fd)])
print(repr(sys.stdin.read()), os.isatty(0), os.isatty(1))
`;

const reopen = `
for name in ('/dev/stdout', '/dev/stderr', '/proc/self/fd/1', '/dev/fd/2'):
    with open(name, 'w') as f: print(name, file=f)
`;

/** Tries every way to init's own descriptors, and every signal. */
const attack = `
import os, signal
got = []
own = [os.fstat(fd).st_ino for fd in (1, 2)]
for fd in range(64):
    for flags in (os.O_RDONLY, os.O_WRONLY):
        # gVisor lets it have init's end of its own pipes, which it has already.
        try: got += [(fd, flags)] if os.fstat(os.open(f'/proc/1/fd/{fd}', flags)).st_ino not in own else []
        except OSError: pass
for path in ('/proc/1/mem', '/proc/1/oom_score_adj', '/proc/1/clear_refs'):
    try: open(path, 'r+b'); got.append(path)
    except OSError: pass
for number in range(1, 65):
    try: os.kill(1, number); got.append(number)
    except PermissionError: pass
print(got)
`;

onBothRuntimes("a block's descriptors", (runtime, bed) => {
  test('are only 0, 1 and 2: an empty input and two pipes', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({ blocks: [list] });
    assert.equal(report.stdout, "[0, 1, 2]\n'' False False\n");
  });

  test('can be reopened by their names', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({ blocks: [reopen] });
    assert.equal(report.stdout, '/dev/stdout\n/proc/self/fd/1\n');
    assert.equal(report.log('stderr').toString(), '/dev/stderr\n/dev/fd/2\n');
  });

  test("are no way to init's, nor are its memory and signals", async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({ blocks: [attack] });
    assert.equal(report.stdout, '[]\n');
    assert.deepEqual(report.ends, [0]);
  });

  test('carry a forged frame as log bytes', async () => {
    await using init = await Init.start(bed(), runtime);
    const forged = 'c3018d0001000000ff';
    const report = await init.run({ blocks: [`import os; os.write(1, bytes.fromhex("${forged}"))`] });
    assert.equal(report.log('stdout').toString('hex'), forged);
    assert.equal(report.end.cause, 'none');
  });
});
