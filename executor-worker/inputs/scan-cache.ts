import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { Digest } from '@hotcell/contract/digest.ts';
import { TenantName } from '@hotcell/contract/names.ts';
import { parseJsonAs } from '@hotcell/contract/parse.ts';
import { z } from 'zod';
import { moveTree, removeTree } from './closed-tree.ts';
import { fileUse, treeUse } from './disk-use.ts';
import type { Places } from './places.ts';
import { makeReadOnly } from './tree.ts';

/**
 * The size of a tree, kept in a file beside it; the file's time is when the tree was last used. Earlier versions did not
 * count folders.
 */
const count = z.number().int().min(0);
const TreeSize = z.object({ files: count, bytes: count, folders: count.default(1) });
export type TreeSize = z.infer<typeof TreeSize>;

export interface FoundTree extends TreeSize {
  tenant: string;
  snapshot: Digest;
  usedAt: number;
}

/**
 * What an earlier process left: everything unfinished, leaving or laid out for a run goes. Contents stay, even
 * those that no tree links to yet: they are whole, and the next try needs them.
 */
export async function takeOver(places: Places): Promise<{ trees: FoundTree[]; bytes: number }> {
  for (const folder of [places.unfinished, places.leaving, places.runs]) {
    await removeTree(folder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  mkdirSync(places.tenants, { recursive: true, mode: 0o700 });
  const trees: FoundTree[] = [];
  let bytes = 0;
  for (const tenant of await readdir(places.tenants)) {
    if (!TenantName.safeParse(tenant).success) continue;
    const found = treesOf(places, tenant);
    trees.push(...found);
    for (const tree of found) bytes += treeUse(tree);
    for await (const content of contentsOf(places, tenant)) bytes += fileUse(content.size);
  }
  return { trees, bytes };
}

function treesOf(places: Places, tenant: string): FoundTree[] {
  const folder = join(places.tenant(tenant), 'trees');
  const names = new Set(readdirSync(folder));
  const found: FoundTree[] = [];
  for (const name of names) {
    const hex = name.split('.')[0] ?? '';
    const whole = names.has(hex) && names.has(`${hex}.jsonl`) && names.has(`${hex}.json`);
    const snapshot = Digest.safeParse(`sha256:${hex}`);
    if (!whole || !snapshot.success) {
      // Without its manifest the tree can't be verified: it goes.
      if (name === hex) moveTree(join(folder, name), places.newLeaving());
      else rmSync(join(folder, name), { force: true });
      continue;
    }
    if (name !== hex) continue;
    const sizeFile = join(folder, `${hex}.json`);
    // An earlier process may have ended between moving and closing it.
    makeReadOnly(join(folder, hex), 0o555);
    const size = parseJsonAs(TreeSize, readFileSync(sizeFile, 'utf8'), sizeFile, 'record_damaged');
    found.push({ tenant, snapshot: snapshot.data, ...size, usedAt: statSync(sizeFile).mtimeMs });
  }
  return found;
}

export async function* contentsOf(places: Places, tenant: string) {
  const files = join(places.tenant(tenant), 'files');
  for (const part of await readdir(files)) {
    for (const name of readdirSync(join(files, part))) {
      const path = `${files}/${part}/${name}`;
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat) yield { path, size: stat.size };
    }
    await breathe();
  }
}
