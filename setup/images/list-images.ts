import { ImageReport } from '@hotcell/contract/image-report.ts';
import type { LockedImage } from '@hotcell/contract/images-lock.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { type InstalledRoot, installedRoots } from './installed-roots.ts';
import { textIfThere } from '../settings/config-file.ts';
import { presentImages } from './image-engine.ts';
import { lockedImages, reportPath } from './images-lock-file.ts';

export interface ListedImage extends LockedImage {
  name: string;
  /** Whether the engine has it under its name; if not, `image build` builds it again. */
  present: boolean;
  report: ImageReport | undefined;
  /** What the keeper's cells have of it on this machine; undefined if it is not unpacked. */
  root: { entries: number; usedAt: string } | undefined;
}

export async function listImages(home: string): Promise<ListedImage[]> {
  const [lock, present, roots] = await Promise.all([lockedImages(home), presentImages(), rootsByImage(home)]);
  const listed = Object.entries(lock).map(async ([name, image]) => {
    const path = reportPath(home, name);
    const text = await textIfThere(path);
    const report = text === undefined ? undefined : parseJsonAs(ImageReport, text, path);
    return { name, ...image, present: present.get(image.ref) === image.digest, report, root: roots.get(image.digest) };
  });
  return await Promise.all(listed);
}

async function rootsByImage(home: string): Promise<Map<string, NonNullable<ListedImage['root']>>> {
  const roots = await installedRoots(home);
  return new Map(roots.map(({ image, entries, usedAt }) => [image, { entries, usedAt: usedAt.toISOString() }]));
}

/** Unpacked for cells, but no longer in the lock: runs that were accepted before may still have them. */
export async function earlierRoots(home: string): Promise<InstalledRoot[]> {
  const lock = new Set(Object.values(await lockedImages(home)).map(({ digest }) => digest));
  return (await installedRoots(home)).filter(({ image }) => !lock.has(image));
}
