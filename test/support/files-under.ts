import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Every file under a folder, by its path. Anything but files and folders is an error. */
export function filesUnder(root: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    assert.ok(entry.isFile(), `${entry.name} is no file`);
    const path = join(entry.parentPath, entry.name);
    files[relative(root, path)] = readFileSync(path, 'latin1');
  }
  return files;
}
