import { PathTree, type TreePlace } from './path-tree.ts';

/** A path that keeps a list of paths from being a snapshot, and why. */
export interface NameProblem {
  path: string;
  reason: string;
}

const maxPathBytes = 3500;
const maxPartBytes = 255;
/**
 * A path of 3,500 bytes can name 1,750 folders, and each takes memory: so many for each path on average, whatever its
 * snapshot, and this many in any case. Outputs may be a million files, and what was frozen has to be read again.
 */
const placesPerPath = 4;
const alwaysPlaces = 300_000;
const mostShown = 3;
const mostShownLetters = 80;

/** The problem of one path by itself; undefined if it can be mounted as it is. */
function problemOf(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (!path.isWellFormed()) return 'is not valid Unicode';
  // Beyond control characters: separators and marks of direction make a name look like another one.
  if (/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(path))
    return 'contains control characters; rename the file';
  if (path.startsWith('/')) return 'is absolute; paths are relative to the snapshot';
  const parts = path.split('/');
  if (parts.includes('')) return 'contains an empty part (// or a trailing /)';
  if (parts.includes('..')) return 'contains .., which leads out of the snapshot';
  if (parts.includes('.')) return 'contains ., which names nothing';
  if (Buffer.byteLength(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`;
  if (parts.some((part) => Buffer.byteLength(part) > maxPartBytes))
    return `contains a part longer than ${maxPartBytes} bytes`;
  return undefined;
}

function quoted(name: string): string {
  return JSON.stringify(name.length > mostShownLetters ? `${name.slice(0, mostShownLetters)}…` : name);
}

/** Why a place cannot stand beside what else is taken for it; undefined if it can. */
function clashAt(place: TreePlace, as: 'file' | 'folder'): string | undefined {
  const { alike } = place;
  if (alike.length > 1) {
    // One more than is shown, since the place itself may be among them: never the whole group for each of its members.
    const others = alike.slice(0, mostShown + 1).filter((other) => other !== place);
    const which = as === 'folder' ? `lies in ${quoted(place.path)}, which ` : '';
    const shown = others.slice(0, mostShown).map((other) => quoted(other.path));
    return `${which}differs from ${shown.join(', ')} only in case or Unicode form`;
  }
  if (as === 'file' && place.isFolder) return 'is a file and also a folder';
  if (as === 'folder' && place.files > 0) return `lies in ${quoted(place.path)}, which is also a file`;
  return place.files > 1 ? 'appears more than once' : undefined;
}

function clashOf(file: TreePlace): string | undefined {
  for (let place: TreePlace | undefined = file; place; place = place.parent) {
    const reason = clashAt(place, place === file ? 'file' : 'folder');
    if (reason) return reason;
  }
  return undefined;
}

/**
 * Every path that cannot be mounted faithfully, with the reason, sorted: one is enough to refuse the whole snapshot. The
 * order of the paths does not change the answer. The work is linear in their length, since a stranger chose them.
 */
export function nameProblems(paths: readonly string[]): NameProblem[] {
  const problems = new Map<string, string>();
  const most = Math.max(alwaysPlaces, placesPerPath * paths.length);
  const tooMany = `comes after ${most} files and folders, the most that these paths may name; use fewer folders`;
  const tree = new PathTree();
  const sound: { path: string; file: TreePlace }[] = [];
  for (const path of paths) {
    const reason = tree.size < most ? problemOf(path) : tooMany;
    if (reason) problems.set(path, reason);
    else sound.push({ path, file: tree.add(path) });
  }
  tree.sortAlike();
  if (tree.hasClash)
    for (const { path, file } of sound) {
      const reason = clashOf(file);
      if (reason) problems.set(path, reason);
    }
  return [...problems].map(([path, reason]) => ({ path, reason })).toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
