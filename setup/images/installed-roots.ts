import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import { textIfThere } from '../settings/config-file.ts';
import { placesIn } from '../settings/installation.ts';

const Note = z.looseObject({ image: Digest, entries: z.int() });

export interface InstalledRoot {
  image: Digest;
  /** Files, folders and links. */
  entries: number;
  usedAt: Date;
}

/** The images that cells of the keeper can have on this machine. */
export async function installedRoots(home: string): Promise<InstalledRoot[]> {
  const { keeperRoots } = placesIn(home);
  const names = await readdir(keeperRoots).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    if (error.code === 'EACCES')
      throw new HotcellError(
        'forbidden',
        `Only root can see which images are unpacked in ${keeperRoots}. Run this command as root.`,
      );
    throw error;
  });
  const read = names.map(async (name) => {
    const path = join(keeperRoots, name, 'note.json');
    const text = await textIfThere(path);
    if (text === undefined || name.startsWith('.')) return [];
    const { image, entries } = parseJsonAs(Note, text, path);
    return [{ image, entries, usedAt: (await stat(join(keeperRoots, name))).mtime }];
  });
  return (await Promise.all(read)).flat();
}
