import { chmodSync, lchownSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { plainMode } from './plain-modes.ts';

const whiteout = '.wh.';
/** What is below is not seen through this folder. */
const opaque = '.wh..wh..opq';

/**
 * Moves an unpacked layer over what the layers below made, as an overlay would show it: a folder joins a folder, anything
 * else takes the place of what was there. No link of either is followed, so no entry leaves the root.
 */
export function mergeLayer(layer: string, root: string): void {
  const names = readdirSync(layer);
  if (names.includes(opaque)) for (const name of readdirSync(root)) remove(join(root, name));
  for (const name of names.filter((one) => one.startsWith(whiteout))) takeAway(root, name.slice(whiteout.length));
  for (const name of names.filter((one) => !one.startsWith(whiteout))) put(join(layer, name), join(root, name));
}

function takeAway(root: string, name: string): void {
  // Words of the layers' maker, not names: a folder of hard links, or that a folder is opaque.
  if (name === '' || name === '.' || name === '..' || name.startsWith(whiteout)) return;
  remove(join(root, name));
}

function put(from: string, to: string): void {
  const stats = lstatSync(from);
  const there = lstatSync(to, { throwIfNoEntry: false });
  if (stats.isDirectory()) {
    if (there && !there.isDirectory()) remove(to);
    if (!there?.isDirectory()) mkdirSync(to);
    mergeLayer(from, to);
    takeOver(to, stats);
    return;
  }
  if (!stats.isFile() && !stats.isSymbolicLink())
    throw new HotcellError('invalid', `The image has a device, socket or pipe at ${from}. Build it without that.`);
  if (there) remove(to);
  renameSync(from, to);
  if (stats.isFile() && (stats.mode & 0o7777) !== plainMode(stats)) chmodSync(to, plainMode(stats));
}

function takeOver(folder: string, stats: Stats): void {
  lchownSync(folder, stats.uid, stats.gid);
  chmodSync(folder, plainMode(stats));
}

const remove = (path: string) => rmSync(path, { recursive: true, force: true });
