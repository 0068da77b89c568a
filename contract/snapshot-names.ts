/** Why a list of paths cannot be a snapshot: one offender, and what is wrong with it. */
export interface NameProblem {
  path: string;
  reason: string;
}

const maxPathBytes = 3500;
const maxPartBytes = 255;

/**
 * Two names that some file system takes for one: by case, or by the Unicode form. Upper before lower, so that names
 * meet whose capitals have more letters than they (ß, SS).
 */
function folded(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return name.toLowerCase();
  return name.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');
}

/** What is wrong with one path by itself; undefined if it can be mounted as it is. */
function problemOf(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (!path.isWellFormed()) return 'is not valid Unicode';
  // Not only what a terminal would obey: line and paragraph separators and marks of direction make a name look like another.
  if (/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(path))
    return 'has control characters; rename the file';
  if (path.startsWith('/')) return 'is absolute; paths are relative to the snapshot';
  const parts = path.split('/');
  if (parts.includes('')) return 'has an empty part (// or a trailing /)';
  if (parts.includes('..')) return 'has a part .., which leads out of the snapshot';
  if (parts.includes('.')) return 'has a part ., which names nothing';
  if (Buffer.byteLength(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`;
  if (parts.some((part) => Buffer.byteLength(part) > maxPartBytes))
    return `has a part longer than ${maxPartBytes} bytes`;
  return undefined;
}

/** What is there under one folded name: how it is spelled as a file, how as a folder. */
interface Spellings {
  files: Map<string, number>;
  folders: Set<string>;
}

function spellings(paths: Iterable<string>): Map<string, Spellings> {
  const found = new Map<string, Spellings>();
  const at = (name: string): Spellings => {
    const key = folded(name);
    const there = found.get(key) ?? { files: new Map(), folders: new Set() };
    found.set(key, there);
    return there;
  };
  const seen = new Set<string>();
  for (const path of paths) {
    const { files } = at(path);
    files.set(path, (files.get(path) ?? 0) + 1);
    for (const folder of foldersOf(path)) {
      // Whoever has put this folder there has put its parents there too.
      if (seen.has(folder)) break;
      seen.add(folder);
      at(folder).folders.add(folder);
    }
  }
  return found;
}

/** The folders a path lies in, the innermost first. */
function* foldersOf(path: string): Generator<string> {
  for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) yield path.slice(0, cut);
}

/** Why a name, spelled like this, cannot stand beside what else is there; undefined if it can. */
function clash(name: string, as: 'file' | 'folder', { files, folders }: Spellings): string | undefined {
  const others = [...new Set([...files.keys(), ...folders])].filter((other) => other !== name).toSorted();
  if (others.length > 0) {
    const shown = others.slice(0, 3).map((other) => JSON.stringify(other));
    const which = as === 'folder' ? `lies in ${JSON.stringify(name)}, which ` : '';
    return `${which}is the same name as ${shown.join(', ')} but for case or Unicode form`;
  }
  if (as === 'file' && folders.size > 0) return 'is a file and also a folder';
  if (as === 'folder' && files.size > 0) return `lies in ${JSON.stringify(name)}, which is also a file`;
  return (files.get(name) ?? 0) > 1 ? 'is there more than once' : undefined;
}

/**
 * Every path that cannot be mounted faithfully, with the reason, sorted: one is enough to refuse the whole snapshot. The
 * same paths get the same answer in whatever order they come.
 */
export function nameProblems(paths: readonly string[]): NameProblem[] {
  const problems = new Map<string, string>();
  const sound: string[] = [];
  for (const path of paths) {
    const reason = problemOf(path);
    if (reason) problems.set(path, reason);
    else sound.push(path);
  }
  const clashing = new Map<string, Spellings>();
  for (const [key, there] of spellings(sound)) {
    const names = new Set([...there.files.keys(), ...there.folders]);
    const asBoth = there.files.size > 0 && there.folders.size > 0;
    if (names.size > 1 || asBoth || [...there.files.values()].some((times) => times > 1)) clashing.set(key, there);
  }
  const reasonFor = (path: string): string | undefined => {
    for (const name of [path, ...foldersOf(path)]) {
      const there = clashing.get(folded(name));
      const reason = there && clash(name, name === path ? 'file' : 'folder', there);
      if (reason) return reason;
    }
    return undefined;
  };
  if (clashing.size > 0)
    for (const path of sound) {
      const reason = reasonFor(path);
      if (reason) problems.set(path, reason);
    }
  return [...problems].map(([path, reason]) => ({ path, reason })).toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
