import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { ImageReport } from '@hotcell/contract/image-report.ts';
import { command, must } from '@hotcell/setup/command.ts';
import { ensureImages } from '@hotcell/setup/images/ensure-images.ts';
import { lockedImages, reportPath } from '@hotcell/setup/images/images-lock-file.ts';
import { type SetupProgress, silent } from '@hotcell/setup/progress.ts';
import { type Bed, openBed } from '../support/bed.ts';

const names = ['valkey', 'store', 'cell-init', 'minimal', 'node', 'python'] as const;

const everyLibrary = `
import numpy, pandas, pyarrow.parquet, scipy.stats, polars, duckdb, os, shutil
import matplotlib; matplotlib.use('Agg')
import matplotlib.pyplot as plt
frame = pandas.DataFrame({'a': [1, 2, 3]})
frame.to_parquet('/tmp/a.parquet')
assert duckdb.sql("select sum(a) from read_parquet('/tmp/a.parquet')").fetchall() == [(6,)]
assert polars.read_parquet('/tmp/a.parquet')['a'].sum() == 6
plt.plot(frame['a']); plt.savefig('/tmp/a.png')
assert os.path.getsize('/tmp/a.png') > 1000 and scipy.stats.norm.cdf(0) == 0.5
assert pandas.__cached__ and os.path.exists(pandas.__cached__)
for tool in ('gcc', 'cc', 'make', 'curl', 'wget', 'nc', 'ssh', 'pip', 'pip3', 'apt', 'apt-get', 'openssl'):
    assert shutil.which(tool) is None, tool
try:
    open('/usr/x', 'w')
    raise SystemExit('the root is writable')
except OSError as error:
    print('all there,', error.strerror)
`;

describe('the images that ship', () => {
  let bed: Bed;
  let home = '';
  before(async () => {
    bed = await openBed();
    home = await bed.folder('images');
    await ensureImages({ home }, names, silent);
  });
  after(() => bed[Symbol.asyncDispose]());

  const inside = async (digest: string, ...argv: string[]) => {
    const labels = [`hotcell.managed=1`, `hotcell.installation=${bed.installation.id}`, 'hotcell.role=test'];
    const sealed = ['--network', 'none', '--read-only', '--tmpfs', '/tmp', '--user', '23456:23456', '--pull', 'never'];
    const given = ['--env', 'HOME=/tmp', ...labels.flatMap((label) => ['--label', label])];
    return await command(['docker', 'run', '--rm', ...sealed, ...given, digest, ...argv]);
  };

  test('are in the lock by the engine’s digest, with their contents', async () => {
    const lock = await lockedImages(home);
    assert.equal((await stat(join(home, 'images.lock'))).mode & 0o777, 0o644);
    for (const name of names) {
      const image = lock[name];
      assert.ok(image, name);
      const id = (await must(['docker', 'image', 'inspect', '--format', '{{.Id}}', image.ref])).trim();
      assert.equal(image.digest, id);
      const text = await readFile(reportPath(home, name), 'utf8');
      assert.equal(image.packages, sha256(text));
      assert.equal(ImageReport.parse(JSON.parse(text)).digest, id);
    }
  });

  test('are not built again, without a word, if they exist', async () => {
    const said: string[] = [];
    const progress: SetupProgress = {
      note: (text) => void said.push(text),
      step: async (title, work) => {
        said.push(title);
        return await work(() => {});
      },
    };
    const lock = await readFile(join(home, 'images.lock'), 'utf8');
    await ensureImages({ home }, names, progress);
    assert.deepEqual(said, []);
    assert.equal(await readFile(join(home, 'images.lock'), 'utf8'), lock);
  });

  test('have no setuid files, file capabilities, compilers or network clients', async () => {
    for (const name of names) {
      const report = ImageReport.parse(JSON.parse(await readFile(reportPath(home, name), 'utf8')));
      const { setuid, capabilities, compilers, networkClients } = report;
      assert.deepEqual(
        { setuid, capabilities, compilers, networkClients },
        {
          setuid: [],
          capabilities: [],
          compilers: [],
          networkClients: [],
        },
        name,
      );
    }
  });

  test('python has every library, precompiled, on a read-only root', async () => {
    const { code, stdout, stderr } = await inside(bed.images.python.digest, 'python3', '-c', everyLibrary);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'all there, Read-only file system\n');
  });

  test('python lists its Debian and PyPI packages with their versions', async () => {
    const { packages } = ImageReport.parse(JSON.parse(await readFile(reportPath(home, 'python'), 'utf8')));
    const named = (kind: string) => packages.filter((found) => found.kind === kind).map(({ name }) => name);
    for (const name of ['numpy', 'pandas', 'pyarrow', 'matplotlib', 'scipy', 'polars', 'duckdb'])
      assert.ok(named('pypi').includes(name), name);
    assert.ok(named('deb').includes('python3.13') || named('deb').includes('python3'));
    assert.ok(packages.every(({ version }) => version !== ''));
  });

  test('node has Node 24 and bash', async () => {
    const { code, stdout } = await inside(bed.images.node.digest, 'bash', '-c', 'node -p process.version');
    assert.equal(code, 0);
    assert.match(stdout, /^v24\./);
  });

  test('minimal has neither shell nor interpreter, and one program', async () => {
    const report = ImageReport.parse(JSON.parse(await readFile(reportPath(home, 'minimal'), 'utf8')));
    assert.deepEqual([report.shells, report.interpreters, report.files], [[], [], 1]);
    const shell = await inside(bed.images.minimal.digest, '/bin/sh', '-c', 'true');
    assert.equal(shell.code, 127);
    const own = await inside(bed.images.minimal.digest, 'minimal', 'id');
    assert.deepEqual([own.code, own.stdout], [0, '23456 23456\n']);
  });

  test('cell-init is beside the lock for both architectures, and for this engine’s', async () => {
    const machineOf: Record<string, number> = { 'cell-init-x64': 62, 'cell-init-arm64': 183 };
    for (const [name, machine] of Object.entries(machineOf)) {
      const elf = await readFile(join(home, 'worker/init', name));
      assert.deepEqual([elf.toString('latin1', 1, 4), elf.readUInt16LE(18)], ['ELF', machine]);
    }
    const files = (await lockedImages(home))['cell-init']?.files;
    assert.deepEqual(Object.keys(files ?? {}).toSorted(), ['cell-init', 'cell-init-arm64', 'cell-init-x64']);
    assert.equal(sha256(await readFile(join(home, 'worker/init/cell-init'))), files?.['cell-init']);
  });
});
