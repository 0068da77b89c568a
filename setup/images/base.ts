import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { command, must } from '../command.ts';
import { checkout } from '../settings/installation.ts';
import type { Builder, Say } from './build.ts';

const publicBase = 'debian:trixie-slim';
const probeMs = 3000;

/** Debian 13's release date. With one date for all files, the same packages make the same bytes. */
const epoch = '1754697600';

const left = ['man', 'locale', 'doc', 'info'].map((folder) => `--dpkgopt=path-exclude=/usr/share/${folder}/*`);
const kept = '--dpkgopt=path-include=/usr/share/doc/*/copyright';
const aptOptions = ['Acquire::Languages "none"', 'Acquire::Retries "3"'].map((line) => `--aptopt=${line}`);
// No program in a cell or a service may gain rights when it starts.
const noSetuid = '--customize-hook=find "$1" -xdev -perm /6000 -type f -exec chmod a-s {} +';

/** The part of the base's recipe that is not in a Dockerfile. */
export const baseRecipe = { publicBase, epoch, options: [...left, kept, ...aptOptions, noSetuid] };

async function registryIsReachable(): Promise<boolean> {
  const asked = await command(['docker', 'manifest', 'inspect', publicBase], {
    signal: AbortSignal.timeout(probeMs),
  }).catch((error: unknown) => {
    // A registry that does not answer in time will not serve a download either.
    if (error instanceof Error && error.name === 'AbortError') return { code: 1 };
    throw error;
  });
  return asked.code === 0;
}

async function makeBaseArchive(folder: string, say: Say): Promise<void> {
  const work = join(folder, 'work');
  await mkdir(work, { recursive: true });
  // apt fetches as a user of its own, who has to reach this folder.
  await chmod(work, 0o755);
  const archive = join(folder, 'base.tar');
  const argv = ['--variant=minbase', '--format=tar', ...baseRecipe.options, 'trixie', archive] as const;
  const env = { SOURCE_DATE_EPOCH: epoch, TMPDIR: work };
  if ((await command(['mmdebstrap', '--version'])).code !== 0)
    throw new HotcellError(
      'internal',
      'Could not build images: no image registry is reachable and mmdebstrap is not installed. Run `apt-get install mmdebstrap` (or `./hotcell doctor --fix` on Debian), or give the engine access to a registry.',
    );
  await must([...contained(), 'mmdebstrap', ...argv], { say, env });
}

/**
 * mmdebstrap mounts file systems and starts programs. If this process is killed they must go too: mmdebstrap dies with
 * its parent and, as root, runs in namespaces of its own, so that none of its mounts and processes outlives it.
 */
function contained(): [string, ...string[]] {
  const withParent = ['setpriv', '--pdeathsig', 'KILL'] as const;
  if (process.getuid?.() !== 0) return [...withParent];
  return [...withParent, 'unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
}

/** The same packages make the same image, bit for bit: one archive, one date for all files. */
export async function makeBaseFromPackages(builder: Builder, say: Say): Promise<Digest> {
  const context = await mkdtemp(join(builder.scratch, 'base-'));
  for (const folder of [builder.scratch, context]) await chmod(folder, 0o755);
  await makeBaseArchive(context, say);
  const dockerfile = join(checkout, 'images/base/Dockerfile');
  return await builder.image({ name: 'base', dockerfile, context, arguments: { SOURCE_DATE_EPOCH: epoch } }, say);
}

/** The base of all other images: a public one if a registry answers, otherwise one made from Debian's packages. */
export async function makeBase(builder: Builder, say: Say): Promise<Digest> {
  say('looking for an image registry');
  if (!(await registryIsReachable())) return await makeBaseFromPackages(builder, say);
  await must(['docker', 'pull', publicBase], { say });
  const context = join(checkout, 'images/base');
  const dockerfile = join(context, 'public.Dockerfile');
  return await builder.image({ name: 'base', dockerfile, context, arguments: { PUBLIC: publicBase } }, say);
}
