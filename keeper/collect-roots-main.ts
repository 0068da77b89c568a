import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Digest, hexOf } from '@hotcell/contract/digest.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import { unusedRoots } from './unused-roots.ts';

/**
 * Removes the roots that nothing uses any more and prints their names. It runs where roots are installed: in a container
 * without network that sees the folder of roots, and the notes of living cells.
 */
const Told = z.strictObject({
  folder: z.string().startsWith('/'),
  cells: z.string().startsWith('/'),
  locked: z.array(Digest),
});
const { folder, cells, locked } = parseJsonAs(Told, process.argv[2] ?? '', 'the argument');

/** An unreadable note may be of any image: then nothing is removed. */
const Note = z.looseObject({ image: Digest });
const living = new Set<string>();
for (const cell of existsSync(cells) ? readdirSync(cells) : []) {
  const file = join(cells, cell, 'note.json');
  if (existsSync(file)) living.add(hexOf(parseJsonAs(Note, readFileSync(file, 'utf8'), file).image));
}
const found = readdirSync(folder).map((name) => ({ name, usedAtMs: statSync(join(folder, name)).mtimeMs }));
const unused = unusedRoots(found, { locked: new Set(locked.map(hexOf)), living, nowMs: Date.now() });
for (const name of unused) {
  // One rename takes it away as a whole: a root that is half removed must not be found.
  const leaving = join(folder, `.old-${name.replace(/^\.+/, '')}`);
  renameSync(join(folder, name), leaving);
  rmSync(leaving, { recursive: true, force: true });
}
process.stdout.write(JSON.stringify(unused));
