import { ImageReport } from '@hotcell/contract/image-report.ts';
import type { LockedImage } from '@hotcell/contract/images-lock.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { textIfThere } from '../settings/config-file.ts';
import { presentImages } from './image-engine.ts';
import { lockedImages, reportPath } from './images-lock-file.ts';

export interface ListedImage extends LockedImage {
  name: string;
  /** Whether the engine has it under its name; if not, `image build` builds it again. */
  present: boolean;
  report: ImageReport | undefined;
}

export async function listImages(home: string): Promise<ListedImage[]> {
  const [lock, present] = await Promise.all([lockedImages(home), presentImages()]);
  const listed = Object.entries(lock).map(async ([name, image]) => {
    const path = reportPath(home, name);
    const text = await textIfThere(path);
    const report = text === undefined ? undefined : parseJsonAs(ImageReport, text, path);
    return { name, ...image, present: present.get(image.ref) === image.digest, report };
  });
  return await Promise.all(listed);
}
