import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Digest, hexOf } from '@hotcell/contract/digest.ts';
import { parseAs, parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import type { RootNote } from './root-note.ts';
import { makeMountPoints, treeOf } from './root-tree.ts';

/**
 * Unpacks an image's files from stdin (an export of a container that never ran) as a root for cells. It runs in a
 * container without network that sees nothing but the folder of roots, because the archive is the image builder's.
 */
const Told = z.strictObject({
  folder: z.string().startsWith('/'),
  image: Digest,
  env: z.array(z.string()).nullable(),
  volumes: z.array(z.string()),
});
const { folder, image, env, volumes } = parseJsonAs(Told, process.argv[2] ?? '', 'the argument');

const made = mkdtempSync(join(folder, '.new-'));
const root = join(made, 'root');
try {
  mkdirSync(root, { mode: 0o755 });
  // A cell has a /dev of its own, and no device of an image belongs on the host's disk.
  const all = ['--extract', '--numeric-owner', '--preserve-permissions', '--anchored', '--exclude=dev/*'];
  const { status } = spawnSync('tar', [...all, '--directory', root], { stdio: ['inherit', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`tar could not unpack the image ${image} (exit code ${status})`);
  const problem = volumes.length > 0 ? `it declares VOLUME ${volumes.join(', ')}` : makeMountPoints(root);
  const { digest, entries } = await treeOf(root);
  const note: RootNote = {
    image: parseAs(Digest, image, 'the image'),
    tree: digest,
    entries,
    env: variables(env ?? []),
    refused: problem ?? null,
  };
  writeFileSync(join(made, 'note.json'), JSON.stringify(note), { mode: 0o444 });
  // mkdtemp makes it for one user alone: a cell's own users have to come through.
  chmodSync(made, 0o755);
  renameSync(made, join(folder, hexOf(image)));
} catch (error) {
  // Another process may have unpacked the same image meanwhile: the same files.
  if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
} finally {
  rmSync(made, { recursive: true, force: true });
}

function variables(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => {
      const cut = entry.indexOf('=');
      return cut < 0 ? [entry, ''] : [entry.slice(0, cut), entry.slice(cut + 1)];
    }),
  );
}
