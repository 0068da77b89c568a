import { counted } from '@hotcell/contract/format.ts';
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

/** An image of the engine: its id, and all names it has. */
export interface NamedImage {
  id: string;
  refs: string[];
}

async function builtImages(): Promise<NamedImage[]> {
  const filter = ['--filter', 'label=hotcell.managed=1', '--filter', 'label=hotcell.role=build'];
  const format = '{{.ID}} {{.Repository}}:{{.Tag}}';
  const listed = await must(['docker', 'image', 'ls', '--no-trunc', ...filter, '--format', format]);
  const images = new Map<string, NamedImage>();
  for (const line of listed.split('\n')) {
    const [id = '', ref = ''] = line.split(' ');
    if (id === '' || ref.includes('<none>')) continue;
    const image = images.get(id) ?? { id, refs: [] };
    image.refs.push(ref);
    images.set(id, image);
  }
  return [...images.values()];
}

export async function holdImage({ id }: Pick<Installation, 'id'>, name: string, digest: string): Promise<void> {
  await must(['docker', 'tag', digest, `hotcell/${name}:${holdTag(id)}`]);
}

export async function haveImages<Name extends ShippedImage>(
  installation: Installation,
  names: readonly Name[],
  progress: SetupProgress,
): Promise<Record<Name, EnsuredImage>> {
  const images = await ensureImages(installation, names, progress);
  await Promise.all(names.map((name) => holdImage(installation, name, images[name].id)));
  return images;
}

/**
 * What becomes of each image when an installation goes. One that another installation holds only loses its tag. One that
 * only builds use, like the base, goes with the last installation.
 */
export function imagesWithout(
  id: string,
  images: readonly NamedImage[],
): { remove: string[]; stay: { ref: string; heldBy: string[] }[] } {
  const holders = ({ refs }: NamedImage) => refs.filter(isHold).map((ref) => ref.slice(ref.lastIndexOf(':in-') + 4));
  const others = (image: NamedImage) => holders(image).filter((holder) => holder !== id);
  const last = images.every((image) => others(image).length === 0);
  const remove: string[] = [];
  const stay: { ref: string; heldBy: string[] }[] = [];
  for (const image of images) {
    const own = image.refs.filter((ref) => ref.endsWith(`:${holdTag(id)}`));
    const name = image.refs.find((ref) => !isHold(ref)) ?? image.id;
    if (others(image).length > 0) {
      remove.push(...own);
      if (own.length > 0) stay.push({ ref: name, heldBy: others(image) });
    } else if (own.length > 0 || last) remove.push(...image.refs);
    else stay.push({ ref: name, heldBy: [] });
  }
  return { remove, stay };
}

/** The engine keeps an image that a container still uses, and says so. */
export async function removeImages({ id }: Pick<Installation, 'id'>, progress: SetupProgress): Promise<void> {
  const { remove, stay } = imagesWithout(id, await builtImages());
  await progress.step(`removing ${counted(remove.length, 'image name')}`, async (say) => {
    if (remove.length === 0) return;
    const { code, stderr } = await command(['docker', 'image', 'rm', ...remove], { say });
    if (code !== 0) progress.note(`  The engine keeps an image: ${stderr.trim()}`);
  });
  const { used = [], shared = [] } = Object.groupBy(stay, ({ heldBy }) => (heldBy.length > 0 ? 'used' : 'shared'));
  for (const { ref, heldBy } of used)
    progress.note(`  ${ref} stays: in use by ${counted(heldBy.length, 'other installation')}`);
  if (shared.length > 0)
    progress.note(`  ${counted(shared.length, 'image')} that builds share stay until the last installation is removed`);
}
