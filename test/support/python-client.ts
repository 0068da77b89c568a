import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ended, command, must } from '@hotcell/setup/command.ts';
import { install } from '@hotcell/setup/engine/packages.ts';
import { silent } from '@hotcell/setup/progress.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { withLock } from '@hotcell/setup/settings/installation-lock.ts';
import type { Bed } from './bed.ts';

const tests = join(checkout, 'test/python');
/** AutoGen and the other frameworks want different versions of the same packages. */
const pinned = {
  autogen: join(tests, 'requirements.txt'),
  integrations: join(tests, 'integrations/requirements.txt'),
  evidence: join(tests, 'evidence/requirements.txt'),
  airflow: join(tests, 'airflow/requirements.txt'),
} as const;
export type Pinned = keyof typeof pinned;

/** A Python environment with what is pinned by hash in test/python, which the tests' installation keeps for the next time. */
export async function pythonTools({ installation }: Bed, set: Pinned = 'autogen'): Promise<string> {
  const requirements = pinned[set];
  const name = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const folder = join(installation.home, 'tools', `python-${name}`);
  // Several test files want the same one at the same time.
  await withLock(`${folder}.lock`, silent, () => makeTools(folder, requirements));
  return folder;
}

async function makeTools(folder: string, requirements: string): Promise<void> {
  if (existsSync(folder)) return;
  const half = `${folder}.half`;
  await rm(half, { recursive: true, force: true });
  await makeVenv(half);
  await must([join(half, 'bin/python'), '-m', 'pip', 'install', '--quiet', '--require-hashes', '-r', requirements]);
  // Its scripts name the folder in which they were made, so they are only run as modules.
  await rename(half, folder);
}

async function makeVenv(folder: string): Promise<void> {
  const make = ['python3', '-m', 'venv', folder] as const;
  if ((await command(make)).code === 0) return;
  await install(['python3-venv'], (line) => process.stderr.write(`${line}\n`));
  await must(make);
}

/** Builds the package as it is released, and installs it into an environment of its own on top of the tools. */
export async function pythonWithClient(bed: Bed, set?: Pinned): Promise<string> {
  const tools = await pythonTools(bed, set);
  const folder = await bed.folder('python');
  const python = join(folder, 'venv/bin/python');
  await must([
    join(tools, 'bin/python'),
    ...['-m', 'build', '--no-isolation', '--outdir', folder, join(checkout, 'clients/python')],
  ]);
  await makeVenv(join(folder, 'venv'));
  const { stdout } = await command(['find', join(folder, 'venv'), '-name', 'site-packages', '-maxdepth', '4']);
  const { stdout: there } = await command(['find', tools, '-name', 'site-packages', '-maxdepth', '4']);
  // What is pinned is taken from the tools as it is; only the client itself is new.
  await must(['sh', '-c', 'echo "$2" > "$1/tools.pth"', 'sh', stdout.trim(), there.trim()]);
  await must(['sh', '-c', `"${python}" -m pip install --quiet --no-deps --no-index "${folder}"/hotcell-*.whl`]);
  await must([python, '-m', 'pip', 'check']);
  return python;
}

/** The tests of AutoGen's own extensions, from its source distribution. */
export async function autogenTests(bed: Bed): Promise<string> {
  const tools = await pythonTools(bed);
  const folder = await bed.folder('autogen-sources');
  const download = [
    'download',
    '--quiet',
    '--no-deps',
    '--no-binary=:all:',
    '--no-build-isolation',
    '--require-hashes',
  ];
  await must([
    join(tools, 'bin/python'),
    '-m',
    'pip',
    ...download,
    '-d',
    folder,
    '-r',
    join(tests, 'autogen-tests.txt'),
  ]);
  await must(['tar', '-xzf', join(folder, 'autogen_ext-0.7.5.tar.gz'), '-C', folder]);
  return join(folder, 'autogen_ext-0.7.5/tests');
}

/** Runs these tests of test/python against an installation. */
export async function pytest(
  bed: Bed,
  python: string,
  files: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  // A test writes nothing into the checkout.
  const cwd = await bed.folder('pytest');
  return await command(
    [
      ...([python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--rootdir', tests] as const),
      `--basetemp=${join(cwd, 'tmp')}`,
      ...['-c', join(tests, 'pytest.ini'), ...files.map((file) => join(tests, file))],
    ],
    { cwd, env: { PYTHONDONTWRITEBYTECODE: '1', TMPDIR: cwd, HOTCELL_HOME: undefined, AIRFLOW_HOME: cwd, ...env } },
  );
}
