import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';

/** Lines `KEY=value`, as a shell, systemd and compose read them; blank lines and comments are ignored. */
export function parseConfig(content: string, path: string): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [index, line] of content.split('\n').entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, key, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined)
      throw new HotcellError('invalid', `${path}, line ${index + 1}: expected KEY=value. Correct or remove this line.`);
    values[key] = value;
  }
  return values;
}

export function formatConfig(values: Readonly<Record<string, string | undefined>>): string {
  const lines = Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`]));
  return `# The settings of this installation, and the operator's keys to its store: keep this file.\n${lines.join('\n')}\n`;
}

export async function textIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** All or nothing: a crash leaves the previous file. */
export async function writeWhole(path: string, content: string, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(temporary, 'wx', mode);
  try {
    // The umask narrows the mode given to open.
    await file.chmod(mode);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/** An existing file stays: the second start must find the secrets of the first. */
export async function keptOrMade(path: string, mode: number, make: () => string): Promise<string> {
  const there = await textIfThere(path);
  if (there !== undefined && there !== '') return there;
  const made = make();
  await writeWhole(path, made, mode);
  return made;
}
