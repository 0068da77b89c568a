/** A path that keeps a list of paths from being a snapshot, and why. */
export interface NameProblem {
  path: string;
  reason: string;
}

const maxPathBytes = 3500;
const maxPartBytes = 255;

/**
 * Equal for two names that some file system takes for one, by case or by Unicode form. Upper case first, because some
 * letters have longer capitals (ß, SS).
 */
function folded(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return name.toLowerCase();
  return name.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');
}

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

/** The spellings of one folded name, as a file and as a folder. */
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
      // Its parents were added with it.
      if (seen.has(folder)) break;
      seen.add(folder);
      at(folder).folders.add(folder);
    }
  }
  return found;
}

/** The folders that contain a path, the innermost first. */
function* foldersOf(path: string): Generator<string> {
  for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) yield path.slice(0, cut);
}

/** Why this spelling of a name clashes with others; undefined if it does not. */
function clash(name: string, as: 'file' | 'folder', { files, folders }: Spellings): string | undefined {
  const others = [...new Set([...files.keys(), ...folders])].filter((other) => other !== name).toSorted();
  if (others.length > 0) {
    const shown = others.slice(0, 3).map((other) => JSON.stringify(other));
    const which = as === 'folder' ? `lies in ${JSON.stringify(name)}, which ` : '';
    return `${which}differs from ${shown.join(', ')} only in case or Unicode form`;
  }
  if (as === 'file' && folders.size > 0) return 'is a file and also a folder';
  if (as === 'folder' && files.size > 0) return `lies in ${JSON.stringify(name)}, which is also a file`;
  return (files.get(name) ?? 0) > 1 ? 'appears more than once' : undefined;
}

/**
 * Every path that can't be mounted faithfully, with the reason, sorted: one is enough to refuse the whole snapshot. The
 * order of the paths does not matter.
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
