/** One class, as the shares see it. */
export interface Claimant {
  key: string;
  /** How many cells its demand calls for. */
  wanted: number;
  /** How many the operator wants at least. */
  pinned: number;
  /** Arrivals in the time for which cells are kept. */
  arrivals: number;
  /** What one of its cells takes. */
  bytes: number;
}

export interface Bounds {
  cells: number;
  bytes: number;
}

/**
 * Who gets how many waiting cells. First what is pinned, then one by one to the class whose next cell is the most likely to
 * be used: the more arrivals, the more likely, and each further cell of a class less.
 */
export function shareOut(claimants: readonly Claimant[], { cells, bytes }: Bounds): Map<string, number> {
  const given = new Map<string, number>();
  let [cellsLeft, bytesLeft] = [cells, bytes];
  const give = (claimant: Claimant, most: number): boolean => {
    const has = given.get(claimant.key) ?? 0;
    if (has >= most || cellsLeft < 1 || bytesLeft < claimant.bytes) return false;
    given.set(claimant.key, has + 1);
    cellsLeft -= 1;
    bytesLeft -= claimant.bytes;
    return true;
  };
  for (const claimant of claimants) while (give(claimant, claimant.pinned));
  const worth = ({ key, arrivals }: Claimant) => arrivals / ((given.get(key) ?? 0) + 1);
  const open = new Set(claimants);
  while (open.size > 0) {
    const best = [...open].reduce((one, other) => (worth(other) > worth(one) ? other : one));
    if (!give(best, best.wanted)) open.delete(best);
  }
  return given;
}
