import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '@hotcell/contract/digest.ts';
import { manifestOf } from '@hotcell/contract/snapshot.ts';
import type { Bed } from './bed.ts';
import type { Tree } from './freezing.ts';

/** A folder on the host with these files, removed with the bed. */
export async function folderWith(bed: Bed, tree: Tree): Promise<string> {
  const root = await bed.folder('tree');
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

/** The id of its snapshot. */
export const idOf = (tree: Tree) =>
  manifestOf(
    Object.entries(tree).map(([path, c]) => ({ path, size: Buffer.from(c).length, sha256: sha256(Buffer.from(c)) })),
  ).id;
