import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';

/**
 * The key that a process made at its first start, readable by its own user alone. Two that start at once end with the
 * same key: the first link stays.
 */
export async function ownKey(path: string): Promise<SigningKey> {
  const there = await pemIn(path);
  if (there !== undefined) return new SigningKey(there, path);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(SigningKey.generate());
      await file.sync();
    } finally {
      await file.close();
    }
    await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(temporary, { force: true });
  }
  return new SigningKey((await pemIn(path)) ?? '', path);
}

async function pemIn(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
