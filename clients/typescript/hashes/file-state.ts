/** What the kernel says of a file that becomes another whenever its bytes do: which it is, how long, and both times. */
export interface FileState {
  dev: bigint;
  ino: bigint;
  size: bigint;
  mtimeNs: bigint;
  ctimeNs: bigint;
}

/** As much as the coarsest clock of a file system counts in, and more than a kernel's is behind when it is busy. */
const granularityNs = 2_000_000_000n;

export const stateKey = ({ dev, ino, size, mtimeNs, ctimeNs }: FileState) =>
  `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;

/** Whether two looks at an open file show the same bytes at the same time: what was read between them is one version. */
export function sameBytes(before: FileState, after: FileState): boolean {
  return before.size === after.size && before.mtimeNs === after.mtimeNs;
}

/**
 * Whether a file that is read from now on can be known again by its state. Written once more within the same tick of the
 * clock it would have other bytes and the same times: so both times have to be well in the past. The second is what
 * counts, since nobody can set it; the first is asked too because it costs nothing.
 */
export function settled({ mtimeNs, ctimeNs }: FileState, nowMs: number): boolean {
  const latest = BigInt(nowMs) * 1_000_000n - granularityNs;
  return mtimeNs < latest && ctimeNs < latest;
}
