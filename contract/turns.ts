/**
 * A ticket's place in its queue (lower is sooner): by rounds, in each of which every tenant has one turn, and within a
 * round by the priority that was asked for (0 to 9, higher is sooner).
 */
const perRound = 10;

export function turnPriority(round: number, asked: number): number {
  return round * perRound + (perRound - asked);
}

export function roundOf(priority: number): number {
  return Math.floor((priority - 1) / perRound);
}
