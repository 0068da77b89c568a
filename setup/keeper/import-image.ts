import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Digest, hexOf } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { LockedImage } from '@hotcell/contract/images-lock.ts';
import { parseOurs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import { refOf } from '../images/context.ts';
import { lockedImages, lockImage } from '../images/images-lock-file.ts';
import type { SetupProgress } from '../progress.ts';
import { ensureRootsFolder, sealedUnpacking } from './roots.ts';

const Note = z.object({ image: Digest, entries: z.int(), refused: z.string().nullable() });

/** An image from an archive, for the keeper's cells: the engine never sees it. */
export async function importImage(
  home: string,
  { file, name }: { file: string; name: string },
  progress: SetupProgress,
): Promise<LockedImage & { entries: number }> {
  const keeper = (await lockedImages(home))['keeper'];
  if (keeper === undefined)
    throw new HotcellError('invalid', 'There is no keeper here to import for. Run `./hotcell up` first.');
  const keeperRoots = await ensureRootsFolder(home);
  const { image, entries, refused } = await progress.step(`importing ${name}`, () =>
    unpacked(keeperRoots, keeper.digest, file),
  );
  if (refused !== null)
    throw new HotcellError('invalid', `Cells can't use the image ${image}: ${refused}. Build it without that.`);
  const locked: LockedImage = { ref: refOf(name, hexOf(image).slice(0, 20)), digest: image, kind: 'cell' };
  await lockImage(home, name, locked);
  return { ...locked, entries };
}

async function unpacked(roots: string, keeperImage: string, file: string): Promise<z.infer<typeof Note>> {
  const program = ['keeper/import-root-main.ts', JSON.stringify({ folder: '/roots' })];
  const words = ['run', ...sealedUnpacking, '--volume', `${roots}:/roots`, keeperImage, ...program];
  const child = spawn('docker', words, { stdio: ['pipe', 'pipe', 'pipe'] });
  let [note, said] = ['', ''];
  child.stdout.on('data', (bytes: Buffer) => (note += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString().slice(0, 4000)));
  const closed = once(child, 'close') as Promise<[number | null]>;
  // A program that refuses the archive reads no further; why is in what it said.
  const fed = pipeline(createReadStream(file), child.stdin).catch((error: NodeJS.ErrnoException) => error);
  const [[code], broke] = await Promise.all([closed, fed]);
  if (broke?.code === 'ENOENT') throw new HotcellError('not_found', `There is no file ${file}.`);
  if (code !== 0) throw new HotcellError('invalid', `${file} was not imported: ${said.trim()}`);
  return parseOurs(Note, note, 'the note of the imported image');
}
