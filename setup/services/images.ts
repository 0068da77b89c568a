import { command, must } from '../command.ts';
import type { ShippedImage } from '../images/catalogue.ts';
import { type EnsuredImage, ensureImages } from '../images/ensure-images.ts';
import type { SetupProgress } from '../progress.ts';
import type { Installation } from '../settings/installation.ts';

/**
 * Installations on one engine share images, because an image is named after its content. Each installation holds the
 * images it uses by a tag of its own, so that none removes what another still needs.
 */
const holdTag = (id: string) => `in-${id}`;
const isHold = (ref: string) => /:in-[a-z0-9]{1,32}$/.test(ref);

async function refs(): Promise<string[]> {
  const filter = ['--filter', 'label=hotcell.managed=1', '--filter', 'label=hotcell.role=build'];
  const format = '{{.Repository}}:{{.Tag}}';
  const listed = await must(['docker', 'image', 'ls', ...filter, '--format', format]);
  return listed.split('\n').filter((ref) => ref !== '' && !ref.includes('<none>'));
}

export async function haveImages<Name extends ShippedImage>(
  installation: Installation,
  names: readonly Name[],
  progress: SetupProgress,
): Promise<Record<Name, EnsuredImage>> {
  const images = await ensureImages(installation, names, progress);
  const tags = names.map(
    (name) => ['docker', 'tag', images[name].id, `hotcell/${name}:${holdTag(installation.id)}`] as const,
  );
  await Promise.all(tags.map((argv) => must(argv)));
  return images;
}

export async function letGoOfImages({ id }: Pick<Installation, 'id'>): Promise<void> {
  const own = (await refs()).filter((ref) => ref.endsWith(`:${holdTag(id)}`));
  if (own.length > 0) await must(['docker', 'image', 'rm', ...own]);
}

/** Remove all our images once no installation holds any. The engine keeps those that a container still uses. */
export async function removeUnheldImages(say: (line: string) => void): Promise<void> {
  const all = await refs();
  if (all.length > 0 && !all.some(isHold)) await command(['docker', 'image', 'rm', ...all], { say });
}
