import { readdirSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Takes outputs the naive way: every entry of the folder, by its path, following links. */
export async function naiveOutputs(folder: string, skip: readonly string[] = []): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for (const name of readdirSync(folder)) {
    if (skip.includes(name)) continue;
    const path = join(folder, name);
    const seen = await stat(path).catch(() => undefined); // A name that is no text is not even found again.
    if (seen?.isDirectory() === false && seen.size < 1e6) found.set(name, await readFile(path));
  }
  return found;
}
