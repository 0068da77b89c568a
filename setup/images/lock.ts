import { join } from 'node:path';
import { canonical } from '@hotcell/contract/digest.ts';
import { ImagesLock, type LockedImage } from '@hotcell/contract/images-lock.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { textIfThere, writeWhole } from '../settings/config-file.ts';
import { placesIn } from '../settings/installation.ts';

export const reportPath = (home: string, name: string) => join(home, 'images', `${name}.packages.json`);

/** Which image each name means in this installation; empty before the first build. */
export async function readImagesLock(home: string): Promise<ImagesLock> {
  const path = placesIn(home).imagesLock;
  const text = await textIfThere(path);
  return text === undefined ? {} : parseJsonAs(ImagesLock, text, path);
}

/** Others read it at any time: it is replaced whole, and one line an image keeps differences readable. */
export async function lockImage(home: string, name: string, image: LockedImage): Promise<void> {
  const all = { ...(await readImagesLock(home)), [name]: image };
  const lines = Object.entries(all)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${JSON.stringify(key)}: ${canonical(value)}`);
  await writeWhole(placesIn(home).imagesLock, `{\n${lines.join(',\n')}\n}\n`, 0o644);
}
