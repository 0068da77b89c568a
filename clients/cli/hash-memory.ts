import { mkdirSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { readCliSettings } from '@hotcell/setup/settings/environment.ts';
import { homeOf, placesIn } from '@hotcell/setup/settings/installation.ts';
import { HashMemory } from '@hotcell/client/hashes/memory.ts';

/** The hashes of so many recently frozen sources are kept. */
const sources = 100;

/**
 * The hashes of a source's files from the last time it was frozen. Each source has a file of its own, so that concurrent
 * freezes rarely share one and each reads only what it needs.
 */
export function memoryOf(source: string, env: NodeJS.ProcessEnv = process.env): HashMemory | undefined {
  const { hashes } = placesIn(homeOf(readCliSettings(env)));
  try {
    mkdirSync(hashes, { recursive: true, mode: 0o700 });
    tidy(hashes);
    return new HashMemory(join(hashes, hexOf(sha256(realpathSync(source)))));
  } catch {
    // A missing source is reported by its reader; without a writable home, nothing is remembered.
    return undefined;
  }
}

/** Removes the oldest files, and with them any half-written ones. */
function tidy(hashes: string): void {
  const found = readdirSync(hashes).map((name) => join(hashes, name));
  if (found.length <= sources) return;
  const at = new Map(found.map((path) => [path, statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0]));
  const newest = found.toSorted((a, b) => (at.get(b) ?? 0) - (at.get(a) ?? 0));
  for (const path of newest.slice(sources)) rmSync(path, { force: true });
}
