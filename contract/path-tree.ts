/**
 * Equal for two names that some file system takes for one, by case or by Unicode form. Upper case first, because some
 * letters have longer capitals (ß, SS). Part by part: a slash composes with nothing.
 */
function folded(part: string): string {
  if (/^[\x20-\x7e]*$/.test(part)) return part.toLowerCase();
  return part.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');
}

/** One spelling of a file or folder. `alike` has all spellings that some file system takes for this one. */
export interface TreePlace {
  readonly parent: TreePlace | undefined;
  readonly path: string;
  readonly alike: TreePlace[];
  /** How many files have exactly this path. */
  files: number;
  isFolder: boolean;
}

interface Spelled extends TreePlace {
  readonly parent: Spelled | undefined;
  readonly alike: Spelled[];
  readonly id: number;
  readonly part: string;
  readonly group: Group;
}

/** All spellings of one place, and the places under it. */
interface Group {
  readonly alike: Spelled[];
  children?: Map<string, Group>;
  /** Made when there are so many spellings that searching them one by one would cost their square. */
  bySpelling?: Map<string, Spelled>;
}

const few = 8;

/** Paths as a tree, as they are spelled and as they are folded: each letter of a path is looked at once. */
export class PathTree {
  readonly #root: Group = { alike: [] };
  readonly #clashing = new Set<TreePlace[]>();
  /** How many files and folders there are: what this takes of memory. */
  size = 0;
  /** Whether any place clashes with another, or with itself. */
  hasClash = false;

  add(path: string): TreePlace {
    let at: Spelled | undefined;
    for (let from = 0, end = 0; end < path.length; from = end + 1) {
      const slash = path.indexOf('/', from);
      end = slash < 0 ? path.length : slash;
      if (at) this.#becomeFolder(at);
      at = this.#place(at, path, from, end);
    }
    if (!at) throw new TypeError('an empty path has no place');
    at.files += 1;
    if (at.files > 1 || at.isFolder) this.hasClash = true;
    return at;
  }

  /** By their spelling, so that messages do not depend on the order in which paths were added. */
  sortAlike(): void {
    for (const alike of this.#clashing) alike.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  #becomeFolder(place: Spelled): void {
    place.isFolder = true;
    if (place.files > 0) this.hasClash = true;
  }

  #place(parent: Spelled | undefined, path: string, from: number, end: number): Spelled {
    const part = path.slice(from, end);
    const group = groupUnder(parent?.group ?? this.#root, folded(part));
    const { alike } = group;
    const known = group.bySpelling
      ? group.bySpelling.get(spellingOf(parent, part))
      : alike.find((one) => one.parent === parent && one.part === part);
    if (known) return known;
    const place: Spelled = {
      parent,
      path: path.slice(0, end),
      part,
      alike,
      files: 0,
      isFolder: false,
      id: this.size++,
      group,
    };
    alike.push(place);
    if (alike.length === 1) return place;
    this.hasClash = true;
    this.#clashing.add(alike);
    if (group.bySpelling) group.bySpelling.set(spellingOf(parent, part), place);
    else if (alike.length > few)
      group.bySpelling = new Map(alike.map((one) => [spellingOf(one.parent, one.part), one]));
    return place;
  }
}

const spellingOf = (parent: Spelled | undefined, part: string) => `${parent?.id ?? ''}/${part}`;

function groupUnder(parent: Group, key: string): Group {
  const children = (parent.children ??= new Map());
  const found = children.get(key) ?? { alike: [] };
  children.set(key, found);
  return found;
}
