import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { onBothRuntimes } from './support/bed.ts';
import { Init } from './support/init.ts';

const zoo = `
import os, socket
os.chdir('/outputs')
open('plain', 'w').write('plain')
open('empty', 'w')
os.makedirs('a/b'); open('a/b/c', 'w').write('deep')
open('locked', 'w').write('locked'); os.chmod('locked', 0)
os.mkdir('closed'); open('closed/in', 'w').write('in'); os.chmod('closed/in', 0); os.chmod('closed', 0)
open(b'new\\nline\\x1b\\xff', 'w').write('odd')
os.symlink('/etc/passwd', 'link'); os.symlink('/proc/1/root', 'a/out'); os.symlink('loop', 'loop')
open('one', 'w').write('x'); os.link('one', 'two')
os.mkfifo('fifo')
s = socket.socket(socket.AF_UNIX); s.bind('socket')
os.mkdir('nothing')
`;

const zooRefused = {
  link: 'symlink',
  'a/out': 'symlink',
  loop: 'symlink',
  one: 'hardlink',
  two: 'hardlink',
  fifo: 'fifo',
  socket: 'socket',
};

/** Deeper than a path can be long; only inodes limit it. */
const abyss = `
import os
open('/outputs/kept', 'w').write('kept')
for top in ('/outputs', '/work', '/tmp', '/dev/shm'):
    os.chdir(top)
    for i in range(900):
        os.mkdir('deep'); os.chdir('deep')
    open('bottom', 'w').write('x')
os.chdir('/')
`;

const full = `
import os
open('/outputs/kept', 'wb').write(b'kept' * 100_000)
for top in ('/tmp', '/dev/shm', '/work'):
    os.makedirs(top + '/d/e')
    with open(top + '/d/e/fill', 'wb') as f:
        try:
            while True: f.write(bytes(65536)); f.flush()
        except OSError: print(top)
    os.chmod(top + '/d/e', 0)
`;

const leftovers = `
import os
for name in ('out.csv', '.cache', 'b\\n\\xff'.encode('latin1')): open(name, 'w').write('x')
os.makedirs('plots/a'); os.makedirs('__pycache__'); os.symlink('/etc/passwd', 'link')
`;

onBothRuntimes('outputs', (runtime, bed) => {
  test('do not include what is left in /work, but it is named, as far as its author meant it', async () => {
    await using init = await Init.start(bed(), runtime);
    const files = [{ path: 'given.csv', bytes: 'x' }];
    const report = await init.run({ blocks: [leftovers], files });
    const [left] = report.of('workLeft');
    const names = left?.names.map((name) => name.toString('latin1')).toSorted();
    assert.deepEqual([left?.more, names], [false, ['b\n\xff', 'out.csv', 'plots/']]);
    assert.deepEqual(report.outputs, {});
  });

  test('of many files in /work only some are named', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({ blocks: ['for i in range(3000): open(f"f{i}", "w")'] });
    const [left] = report.of('workLeft');
    assert.deepEqual([left?.more, left?.names.length], [true, 10]);
  });

  test('are regular files with one name; anything else is refused with a reason', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({ blocks: [zoo] });
    const text = Object.fromEntries(Object.entries(report.outputs).map(([path, bytes]) => [path, bytes.toString()]));
    assert.deepEqual(text, {
      plain: 'plain',
      empty: '',
      'a/b/c': 'deep',
      locked: 'locked',
      'closed/in': 'in',
      'new\nline\x1b\xff': 'odd',
    });
    assert.deepEqual(report.refused, zooRefused);
    const { outputFiles, outputBytes, outputsRefused, outputsIncomplete } = report.end;
    assert.deepEqual(
      { outputFiles, outputBytes, outputsRefused, outputsIncomplete },
      { outputFiles: 6, outputBytes: 20, outputsRefused: 7, outputsIncomplete: false },
    );
  });

  test('arrive byte for byte, even big ones', async () => {
    await using init = await Init.start(bed(), runtime);
    const write =
      'import random, hashlib\nrandom.seed(3)\nb = random.randbytes(20_000_001)\nopen("/outputs/big", "wb").write(b)\nprint(hashlib.sha256(b).hexdigest(), end="")';
    const report = await init.run({ blocks: [write] });
    const big = report.outputs['big'] ?? Buffer.alloc(0);
    assert.equal(big.length, 20_000_001);
    assert.equal(createHash('sha256').update(big).digest('hex'), report.stdout);
  });

  test('beyond the limit of files or bytes are refused one by one, by their apparent size', async () => {
    await using init = await Init.start(bed(), runtime);
    const many =
      'for i in range(8): open(f"/outputs/{i}", "w").write("x")\nwith open("/outputs/sparse", "wb") as f: f.truncate(1 << 28)';
    const report = await init.run({ blocks: [many], limits: { outputFiles: 5 } });
    assert.equal(Object.keys(report.outputs).length, 5);
    const reasons = Object.values(report.refused).toSorted();
    assert.equal(reasons.length, 4);
    assert.ok(
      reasons.every((reason) => reason === 'tooManyFiles' || reason === 'tooManyBytes'),
      reasons.join(),
    );
    assert.equal(report.end.outputFilesExceeded, true);

    await using second = await Init.start(bed(), runtime);
    const sparse = await second.run({ blocks: [many] });
    assert.deepEqual(sparse.refused, { sparse: 'tooManyBytes' });
    assert.equal(sparse.end.outputBytesExceeded, true);
    assert.equal(sparse.end.outputFiles, 8);
  });

  test('are found beside endless trees, which are refused where they are too deep', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({ blocks: [abyss], limits: { outputDepth: 16 } });
    assert.equal(report.outputs['kept']?.toString(), 'kept');
    assert.deepEqual(report.refused, { [Array(16).fill('deep').join('/')]: 'tooDeep' });
  });

  test('beyond a thousand refusals are counted and not listed', async () => {
    await using init = await Init.start(bed(), runtime);
    const links = 'import os\nfor i in range(1500): os.symlink("x", f"/outputs/{i}")';
    const report = await init.run({ blocks: [links] });
    assert.equal(report.of('outputRefused').length, 1000);
    assert.equal(report.end.outputsRefused, 1500);
  });

  test('with too long a path are refused under a shortened path', async () => {
    await using init = await Init.start(bed(), runtime);
    const long =
      'import os\nos.makedirs("/outputs/" + "d" * 200)\nopen("/outputs/" + "d" * 200 + "/" + "f" * 200, "w")';
    const report = await init.run({ blocks: [long], limits: { outputPathBytes: 300 } });
    assert.deepEqual(report.refused, { [`${'d'.repeat(200)}/${'f'.repeat(99)}`]: 'pathTooLong' });
  });

  test('survive full scratch', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({ blocks: [full] });
    assert.equal(report.stdout, '/tmp\n/dev/shm\n/work\n');
    assert.equal(report.outputs['kept']?.length, 400_000);
    assert.equal(report.end.outputsIncomplete, false);
  });

  test('of a run that wrote none are empty', async () => {
    await using init = await Init.start(bed(), runtime);
    const report = await init.run({ blocks: [{ programs: ['true'], args: [] }] });
    assert.deepEqual([report.outputs, report.refused], [{}, {}]);
  });
});
