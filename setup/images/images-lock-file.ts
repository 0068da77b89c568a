import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { canonical } from '@hotcell/contract/digest.ts';
import { ImagesLock, type LockedImage } from '@hotcell/contract/images-lock.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { textIfThere, writeWhole } from '../settings/config-file.ts';
import { placesIn } from '../settings/installation.ts';

const imagesFolder = (home: string) => join(home, 'images');

/** The report of an image's scan, beside the lock that names its sha256. */
export const reportPath = (home: string, name: string) => join(imagesFolder(home), `${name}.packages.json`);

/** The image that each name stands for in this installation; empty before the first build. */
export async function lockedImages(home: string): Promise<ImagesLock> {
  const path = placesIn(home).imagesLock;
  const text = await textIfThere(path);
  return text === undefined ? {} : parseJsonAs(ImagesLock, text, path);
}

export async function writeReport(home: string, name: string, text: string): Promise<void> {
  await mkdir(imagesFolder(home), { recursive: true, mode: 0o755 });
  await writeWhole(reportPath(home, name), text, 0o644);
}

/** Others read it at any time, so it is replaced whole. One line for each image keeps diffs readable. */
export async function lockImage(home: string, name: string, image: LockedImage): Promise<void> {
  const all = { ...(await lockedImages(home)), [name]: image };
  const lines = Object.entries(all)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${JSON.stringify(key)}: ${canonical(value)}`);
  const text = `{\n${lines.join(',\n')}\n}\n`;
  await writeWhole(placesIn(home).imagesLock, text, 0o644);
  // The services mount this folder, because a mounted file would stay the old one when it is replaced.
  await mkdir(imagesFolder(home), { recursive: true, mode: 0o755 });
  await writeWhole(join(imagesFolder(home), 'images.lock'), text, 0o644);
}
