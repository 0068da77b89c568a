/** A ticket is valid for a week, so a run that names an image may still come until then. */
const keptMs = 7 * 24 * 60 * 60_000;
/** What an interrupted installation or removal left: one that is under way takes minutes. */
const unfinishedMs = 60 * 60_000;

export interface FoundRoot {
  /** The folder's name: the hex digits of the image's digest. */
  name: string;
  usedAtMs: number;
}

/** Roots of images that are in no lock, that no living cell has, and that nothing has used for long. */
export function unusedRoots(
  found: readonly FoundRoot[],
  { locked, living, nowMs }: { locked: ReadonlySet<string>; living: ReadonlySet<string>; nowMs: number },
): string[] {
  const unused = found.filter(({ name, usedAtMs }) => {
    const most = name.startsWith('.') ? unfinishedMs : keptMs;
    return !locked.has(name) && !living.has(name) && nowMs - usedAtMs > most;
  });
  return unused.map(({ name }) => name);
}
