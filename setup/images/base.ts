import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { command, must } from '../command.ts';
import { checkout } from '../settings/installation.ts';
import type { Builder, Say } from './build.ts';

const publicBase = 'debian:trixie-slim';
const probeMs = 3000;

/** Debian 13's day of release: with one date for all, the same packages make the same bytes. */
const epoch = '1754697600';

const left = ['man', 'locale', 'doc', 'info'].map((folder) => `--dpkgopt=path-exclude=/usr/share/${folder}/*`);
const kept = '--dpkgopt=path-include=/usr/share/doc/*/copyright';
const aptOptions = ['Acquire::Languages "none"', 'Acquire::Retries "3"'].map((line) => `--aptopt=${line}`);
// Nothing in a cell or a service may gain rights by being started.
const noSetuid = '--customize-hook=find "$1" -xdev -perm /6000 -type f -exec chmod a-s {} +';

/** The part of the base's recipe that stands here and not in a Dockerfile. */
export const baseRecipe = { publicBase, epoch, options: [...left, kept, ...aptOptions, noSetuid] };

async function registryIsReachable(): Promise<boolean> {
  const asked = await command(['docker', 'manifest', 'inspect', publicBase], {
    signal: AbortSignal.timeout(probeMs),
  }).catch((error: unknown) => {
    // The time is over: whatever does not answer now will not serve a download either.
    if (error instanceof Error && error.name === 'AbortError') return { code: 1 };
    throw error;
  });
  return asked.code === 0;
}

async function makeBaseArchive(folder: string, say: Say): Promise<void> {
  const work = join(folder, 'work');
  await mkdir(work, { recursive: true });
  // apt fetches as a user of its own, which has to reach this folder.
  await chmod(work, 0o755);
  const archive = join(folder, 'base.tar');
  const argv = ['--variant=minbase', '--format=tar', ...baseRecipe.options, 'trixie', archive] as const;
  const env = { SOURCE_DATE_EPOCH: epoch, TMPDIR: work };
  if ((await command(['mmdebstrap', '--version'])).code !== 0)
    throw new HotcellError(
      'internal',
      'no image registry is reachable and mmdebstrap is not installed, so there is nothing to build images from: `apt-get install mmdebstrap` (or `./hotcell doctor --fix` on Debian), or let the engine reach a registry',
    );
  await must([...contained(), 'mmdebstrap', ...argv], { say, env });
}

/**
 * mmdebstrap mounts and starts programs. When we are killed they must go with us: it dies with its parent, and where it
 * is root, with namespaces of its own, so that no mount and no process of it outlives it.
 */
function contained(): [string, ...string[]] {
  const withParent = ['setpriv', '--pdeathsig', 'KILL'] as const;
  if (process.getuid?.() !== 0) return [...withParent];
  return [...withParent, 'unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
}

/** From the same packages the same image, to the bit: one archive with one date for all. */
export async function makeBaseFromPackages(builder: Builder, say: Say): Promise<Digest> {
  const context = await mkdtemp(join(builder.scratch, 'base-'));
  for (const folder of [builder.scratch, context]) await chmod(folder, 0o755);
  await makeBaseArchive(context, say);
  const dockerfile = join(checkout, 'images/base/Dockerfile');
  return await builder.image({ name: 'base', dockerfile, context, arguments: { SOURCE_DATE_EPOCH: epoch } }, say);
}

/** The base every other image stands on: a public one where a registry answers, otherwise from Debian's packages. */
export async function makeBase(builder: Builder, say: Say): Promise<Digest> {
  say('asking for an image registry');
  if (!(await registryIsReachable())) return await makeBaseFromPackages(builder, say);
  await must(['docker', 'pull', publicBase], { say });
  const context = join(checkout, 'images/base');
  const dockerfile = join(context, 'public.Dockerfile');
  return await builder.image({ name: 'base', dockerfile, context, arguments: { PUBLIC: publicBase } }, say);
}
