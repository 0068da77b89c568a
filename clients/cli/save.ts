import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { inLanes } from '@hotcell/contract/lanes.ts';
import type { OutputFile } from '@hotcell/contract/result.ts';
import type { Run } from '@hotcell/client/index.ts';

const atOnce = 4;

/** Output files at their own paths under a folder: every byte is checked, and none is written anywhere else. */
export async function saveOutputs(
  run: Run,
  files: readonly OutputFile[],
  folder: string,
  options: { signal?: AbortSignal | undefined; saved?: (file: OutputFile) => void } = {},
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const root = await realpath(folder);
  await inLanes(atOnce, files, async (file) => {
    await saveOne(run, file, root, options.signal);
    options.saved?.(file);
  });
}

async function saveOne(run: Run, file: OutputFile, root: string, signal: AbortSignal | undefined): Promise<void> {
  const { folder, target } = await placeOf(file.path, root);
  const temporary = join(folder, `.hotcell-${randomBytes(8).toString('hex')}`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(temporary, flags, 0o666);
  try {
    try {
      // Not `write`, which may write a part only.
      for await (const chunk of checked(run, file, signal)) await handle.appendFile(chunk);
    } finally {
      await handle.close();
    }
    // Takes the place of a link too, instead of writing to where it points.
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The folders on the way are made one by one: a link among them would lead out of the folder that was named. */
async function placeOf(path: string, root: string): Promise<{ folder: string; target: string }> {
  const parts = path.split('/');
  const last = parts.pop() ?? '';
  const plain = (part: string) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0');
  if (![...parts, last].every(plain))
    throw new HotcellError(
      'record_damaged',
      `the output ${JSON.stringify(path)} is no path inside a folder: it was not written`,
    );
  let folder = root;
  for (const part of parts) {
    folder = join(folder, part);
    await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (!(await lstat(folder)).isDirectory())
      throw new HotcellError(
        'conflict',
        `${folder} is no folder of its own (a link, or a file): remove it, or choose another one with -o`,
      );
  }
  return { folder, target: join(folder, last) };
}

/** The file's bytes as they come; an error after the last if they were not the ones that the result names. */
export async function* checked(run: Run, file: OutputFile, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  const answer = await run.output(file.path, signal);
  if (answer.body)
    for await (const chunk of answer.body) {
      hash.update(chunk);
      yield chunk;
    }
  const got = `sha256:${hash.digest('hex')}`;
  if (got !== file.sha256)
    throw new HotcellError(
      'record_damaged',
      `${file.path} arrived as ${got}, but the result says ${file.sha256}: it was not kept`,
    );
}
