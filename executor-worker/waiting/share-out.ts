/** One class, as the shares see it. */
export interface Claimant {
  key: string;
  /** How many arrivals would have used its first cell, its second, and so on. */
  uses: readonly number[];
  /** How many the operator wants at least. */
  pinned: number;
  /** What one of its cells takes. */
  bytes: number;
}

export interface Bounds {
  cells: number;
  bytes: number;
}

/** Who gets how many waiting cells: first what is pinned, then one by one where the next cell would have been used most. */
export function shareOut(claimants: readonly Claimant[], { cells, bytes }: Bounds): Map<string, number> {
  const given = new Map<string, number>();
  let [cellsLeft, bytesLeft] = [cells, bytes];
  const has = ({ key }: Claimant) => given.get(key) ?? 0;
  const give = (claimant: Claimant): boolean => {
    if (cellsLeft < 1 || bytesLeft < claimant.bytes) return false;
    given.set(claimant.key, has(claimant) + 1);
    cellsLeft -= 1;
    bytesLeft -= claimant.bytes;
    return true;
  };
  for (const claimant of claimants) while (has(claimant) < claimant.pinned && give(claimant));
  const worth = (claimant: Claimant) => claimant.uses[has(claimant)] ?? 0;
  const open = new Set(claimants);
  while (open.size > 0) {
    const best = [...open].reduce((one, other) => (worth(other) > worth(one) ? other : one));
    if (worth(best) === 0 || !give(best)) open.delete(best);
  }
  return given;
}
