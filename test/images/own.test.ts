import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { type Ended, command, must } from '@hotcell/setup/command.ts';
import { type OwnImageRequest, deriveImage } from '@hotcell/setup/images/derive.ts';
import { lockedImages, reportPath } from '@hotcell/setup/images/images-lock-file.ts';
import { silent } from '@hotcell/setup/progress.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { until } from '../support/until.ts';

/** The command as an operator types it, in a home of this file's own. */
describe('image build', () => {
  const mark = randomBytes(4).toString('hex');
  const named = (word: string) => `${word}-${mark}`;
  let bed: Bed;
  let home = '';
  before(async () => {
    bed = await openBed();
    home = await bed.folder('own-images');
  });
  after(async () => {
    const listed = await must(['docker', 'image', 'ls', '--format', '{{.Repository}}:{{.Tag}}']);
    const own = listed.split('\n').filter((ref) => ref.includes(`-${mark}:`));
    if (own.length > 0) await must(['docker', 'image', 'rm', ...own]);
    await bed[Symbol.asyncDispose]();
  });

  const env = () => ({ ...process.env, HOTCELL_HOME: home });
  const cli = ['node', join(checkout, 'clients/cli/cli-main.ts'), 'image'] as const;
  const image = (...words: string[]): Promise<Ended> =>
    command([process.execPath, ...cli.slice(1), ...words], { env: env() });
  const file = async (name: string, ...lines: string[]) => {
    const path = join(home, name);
    await writeFile(path, `${lines.join('\n')}\n`);
    return path;
  };
  const inside = async (ref: string, ...argv: string[]) => {
    const labels = ['--label', 'hotcell.managed=1', '--label', `hotcell.installation=${bed.installation.id}`];
    return await must(['docker', 'run', '--rm', '--network', 'none', '--pull', 'never', ...labels, ref, ...argv]);
  };

  test('adds Python packages to an image, pins it, lists its contents and says what a policy needs', async () => {
    const name = named('packages');
    const requirements = await file('requirements.txt', 'tabulate==0.9.0');
    const built = await image('build', name, '--from', 'python', '--requirements', requirements);
    assert.equal(built.code, 0, built.stderr);
    assert.ok(built.stdout.includes(`images: [python, ${name}]`), built.stdout);
    const locked = (await lockedImages(home))[name];
    assert.ok(locked && built.stdout.includes(locked.digest));
    assert.equal(locked.from?.digest, (await lockedImages(home))['python']?.digest);
    assert.equal(
      await inside(locked.digest, 'python3', '-c', 'import tabulate, numpy; print(tabulate.__version__)'),
      '0.9.0\n',
    );
    const rows = (await image('ls', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const row = rows.find((found) => found.name === name);
    assert.equal(row.present, true);
    assert.ok(row.report.packages.some((found: { name: string }) => found.name === 'tabulate'));
    assert.deepEqual([row.report.setuid, row.report.networkClients], [[], []]);
  });

  test('says which compilers and network clients an image has', async () => {
    const name = named('tools');
    const copies = 'RUN cp /bin/true /usr/bin/gcc && cp /bin/true /usr/local/bin/curl';
    const dockerfile = await file('tools.Dockerfile', 'ARG BASE', 'FROM ${BASE}', copies);
    const built = await image('build', name, '--from', 'node', '--dockerfile', dockerfile, '--json');
    assert.equal(built.code, 0, built.stderr);
    assert.deepEqual(JSON.parse(built.stdout).remarks, [
      'it has compilers: /usr/bin/gcc',
      'it has network clients: /usr/local/bin/curl',
    ]);
  });

  test('refuses an image with setuid files or volumes and registers nothing of it', async () => {
    const name = named('rights');
    const lines = [
      'ARG BASE',
      'FROM ${BASE}',
      'RUN cp /bin/true /usr/bin/su2 && chmod u+s /usr/bin/su2',
      'VOLUME /kept',
    ];
    const built = await image(
      'build',
      name,
      '--from',
      'node',
      '--dockerfile',
      await file('rights.Dockerfile', ...lines),
    );
    assert.equal(built.code, 1);
    assert.match(built.stderr, /setuid or setgid files \(\/usr\/bin\/su2\).*chmod a-s.*volume \/kept/s);
    await nothingOf(name);
  });

  test('that fails shows the last lines and what to do, and registers nothing', async () => {
    const name = named('broken');
    const lines = ['ARG BASE', 'FROM ${BASE}', 'RUN echo the last thing it said && exit 7'];
    const built = await image(
      'build',
      name,
      '--from',
      'node',
      '--dockerfile',
      await file('broken.Dockerfile', ...lines),
    );
    assert.equal(built.code, 1);
    assert.match(built.stderr, /Could not build.*the last thing it said.*run the same command again/s);
    await nothingOf(name);
  });

  test('refuses taken or malformed names and missing files before it builds anything', async () => {
    const dockerfile = await file('any.Dockerfile', 'FROM scratch');
    const name = named('x');
    const asks: { asked: OwnImageRequest; says: RegExp }[] = [
      { asked: { name: 'python', from: 'node', source: { dockerfile } }, says: /Choose another name/ },
      { asked: { name: 'Up_Per', from: 'node', source: { dockerfile } }, says: /1 to 63 of a-z/ },
      { asked: { name, from: 'pyhton', source: { dockerfile } }, says: /Did you mean python/ },
      { asked: { name, from: 'node', source: { requirements: join(home, 'absent.txt') } }, says: /absent\.txt/ },
    ];
    for (const { asked, says } of asks)
      await assert.rejects(
        deriveImage({ home }, asked, silent),
        (error: unknown) => error instanceof HotcellError && says.test(error.message),
      );
    const usage = await image('build', name);
    assert.match(usage.stderr, /--requirements FILE or --dockerfile FILE/);
    assert.equal(usage.code, 2);
    await nothingOf(name);
  });

  test('that was killed midway is continued by the next, which repeats no finished step', async () => {
    const name = named('killed');
    const latch = '--mount=type=cache,id=hotcell-test-latch,target=/latch';
    const dockerfile = await file(
      'killed.Dockerfile',
      'ARG BASE',
      'FROM ${BASE}',
      `RUN ${latch} echo once >> /latch/${mark}.done`,
      `RUN ${latch} until [ -e /latch/${mark}.go ]; do echo half way of ${mark}; sleep 0.2; done; cp /latch/${mark}.done /done`,
    );
    const words = ['build', name, '--from', 'node', '--dockerfile', dockerfile];
    // In a process group of its own, so that its builds die with it, as by a power failure.
    const child = spawn(process.execPath, [...cli.slice(1), ...words], {
      env: env(),
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(child, 'exit');
    for await (const line of createInterface({ input: child.stderr })) if (line.includes(`half way of ${mark}`)) break;
    assert.ok(child.pid);
    process.kill(-child.pid, 'SIGKILL');
    assert.deepEqual(await ended, [null, 'SIGKILL']);
    await nothingOf(name);

    await until('the engine ends the abandoned build', async () => !(await stepRuns()));
    const open = `ARG BASE\nFROM \${BASE}\nRUN ${latch} touch /latch/${mark}.go\n`;
    const base = (await lockedImages(home))['node']?.ref ?? '';
    // From a folder: of standard input the builder leaves copies in the temporary folder.
    const latchFolder = await bed.folder('latch');
    await writeFile(join(latchFolder, 'Dockerfile'), open);
    const quiet = ['--quiet', '--pull=false', '--output', 'type=cacheonly', '--build-arg', `BASE=${base}`];
    await must(['docker', 'build', ...quiet, latchFolder], { env: { DOCKER_BUILDKIT: '1' } });
    const again = await image(...words);
    assert.equal(again.code, 0, again.stderr);
    const locked = (await lockedImages(home))[name];
    assert.equal(await inside(locked?.digest ?? '', 'cat', '/done'), 'once\n');
  });

  /** Whether the waiting step is a process of this machine; with a remote engine it is not. */
  async function stepRuns(): Promise<boolean> {
    const pids = existsSync('/proc') ? (await readdir('/proc')).filter((name) => /^\d+$/.test(name)) : [];
    // A process may end before its command line is read.
    const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
    return lines.some((line) => line.includes(`/latch/${mark}.go`));
  }

  async function nothingOf(name: string): Promise<void> {
    assert.equal((await lockedImages(home))[name], undefined);
    assert.equal(existsSync(reportPath(home, name)), false);
    assert.equal(await must(['docker', 'image', 'ls', '--quiet', `hotcell/${name}`]), '');
  }
});
