import { mkdirSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hexOf, sha256 } from '@hotcell/contract/digest.ts';
import { readCliSettings } from '@hotcell/setup/settings/environment.ts';
import { homeOf, placesIn } from '@hotcell/setup/settings/installation.ts';
import { HashMemory } from '@hotcell/client/hashes/memory.ts';

/** So many sources are remembered: those that were frozen last. */
const sources = 100;

/**
 * What is known of the files of a source from when it was frozen last. Each source has a file of its own: two freezes
 * at once seldom meet, and a freeze reads no more than it needs.
 */
export function memoryOf(source: string, env: NodeJS.ProcessEnv = process.env): HashMemory | undefined {
  const { hashes } = placesIn(homeOf(readCliSettings(env)));
  try {
    mkdirSync(hashes, { recursive: true, mode: 0o700 });
    tidy(hashes);
    return new HashMemory(join(hashes, hexOf(sha256(realpathSync(source)))));
  } catch {
    // No such source, which is said by who looks into it; or a home we may not write to, where nothing is remembered.
    return undefined;
  }
}

/** Those of long ago go, and with them what was once left half written. */
function tidy(hashes: string): void {
  const found = readdirSync(hashes).map((name) => join(hashes, name));
  if (found.length <= sources) return;
  const at = new Map(found.map((path) => [path, statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0]));
  const newest = found.toSorted((a, b) => (at.get(b) ?? 0) - (at.get(a) ?? 0));
  for (const path of newest.slice(sources)) rmSync(path, { force: true });
}
