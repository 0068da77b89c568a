import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Digest, hexOf } from '@hotcell/contract/digest.ts';
import type { RootNote } from './root-note.ts';
import { makeMountPoints, treeOf } from './root-tree.ts';

/** What an image says of itself, as far as cells need it. */
export interface ImageWords {
  image: Digest;
  env: readonly string[];
  volumes: readonly string[];
}

/**
 * A new root in the folder of roots: `fill` unpacks the image's files into `<new>/root` and says what the image is. The note
 * comes last, and the whole appears at once.
 */
export async function installRoot(folder: string, fill: (made: string) => Promise<ImageWords>): Promise<RootNote> {
  const made = mkdtempSync(join(folder, '.new-'));
  try {
    const { image, env, volumes } = await fill(made);
    const root = join(made, 'root');
    const problem = volumes.length > 0 ? `it declares VOLUME ${volumes.join(', ')}` : makeMountPoints(root);
    const { digest, entries } = await treeOf(root);
    const note: RootNote = { image, tree: digest, entries, env: variables(env), refused: problem ?? null };
    writeFileSync(join(made, 'note.json'), JSON.stringify(note), { mode: 0o444 });
    // mkdtemp makes it for one user alone: a cell's own users have to come through.
    chmodSync(made, 0o755);
    putInPlace(made, join(folder, hexOf(image)));
    return note;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function putInPlace(made: string, place: string): void {
  try {
    renameSync(made, place);
  } catch (error) {
    // Another process may have unpacked the same image meanwhile: the same files.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  }
}

function variables(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => {
      const cut = entry.indexOf('=');
      return cut < 0 ? [entry, ''] : [entry.slice(0, cut), entry.slice(cut + 1)];
    }),
  );
}
