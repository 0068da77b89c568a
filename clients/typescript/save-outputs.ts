import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import type { OutputFile } from '@hotcell/contract/result.ts';
import { checkedBytes } from '@hotcell/contract/checked-bytes.ts';
import { noFolder } from './file-errors.ts';
import type { Run } from './run-handle.ts';

const atOnce = 4;

/** Saves output files at their own paths under a folder. Every byte is checked, and nothing is written outside it. */
export async function saveOutputs(
  run: Pick<Run, 'output'>,
  files: readonly OutputFile[],
  folder: string,
  options: { signal?: AbortSignal | undefined; saved?: (file: OutputFile) => void } = {},
): Promise<void> {
  // All are judged before anything lands.
  for (const { path } of files) refusePath(path);
  await mkdir(folder, { recursive: true }).catch((cause: unknown) => {
    throw noFolder(folder, cause);
  });
  const root = await realpath(folder);
  await inLanes(atOnce, files, async (file) => {
    await saveOne(run, file, root, options.signal);
    options.saved?.(file);
  });
}

async function saveOne(
  run: Pick<Run, 'output'>,
  file: OutputFile,
  root: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { folder, target } = await placeOf(file.path, root);
  const temporary = join(folder, `.hotcell-${randomBytes(8).toString('hex')}`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(temporary, flags, 0o666);
  try {
    try {
      // Not `write`, which may write only a part.
      for await (const chunk of checked(run, file, signal)) await handle.appendFile(chunk);
    } finally {
      await handle.close();
    }
    // Replaces a link instead of writing to its target.
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function refusePath(path: string): void {
  const parts = path.split('/');
  const plain = (part: string) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0');
  if (!parts.every(plain))
    throw new HotcellError(
      'record_damaged',
      `The output path ${JSON.stringify(path)} leads out of the folder. No file was saved.`,
    );
  // An installation's files say where its key goes: a job must not put its own in their place.
  if (parts.some((part) => part.toLowerCase() === '.hotcell'))
    throw new HotcellError(
      'conflict',
      `The output ${JSON.stringify(path)} is in a folder .hotcell, where an installation keeps its address and key. No file was saved. Name the outputs that you want.`,
    );
}

/** Creates the folders one by one: a link among them could lead out of the named folder. */
async function placeOf(path: string, root: string): Promise<{ folder: string; target: string }> {
  const parts = path.split('/');
  const last = parts.pop() ?? '';
  let folder = root;
  for (const part of parts) {
    folder = join(folder, part);
    await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (!(await lstat(folder)).isDirectory())
      throw new HotcellError(
        'conflict',
        `${folder} is a link or a file, not a folder. Remove it, or choose another folder.`,
      );
  }
  return { folder, target: join(folder, last) };
}

/** The file's bytes as they arrive, and an error in place of the last of them if they differ from the result. */
export async function* checked(
  run: Pick<Run, 'output'>,
  { path, sha256 }: OutputFile,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { body } = await run.output(path, signal);
  yield* checkedBytes(
    body ?? new Blob([]).stream(),
    sha256,
    (got) =>
      new HotcellError(
        'record_damaged',
        `${path} arrived as ${got}, but the result says ${sha256}. The file was not saved.`,
      ),
  );
}
