/** What identifies one version of a file: when its bytes change, so does at least one of these. */
export interface FileState {
  dev: bigint;
  ino: bigint;
  size: bigint;
  mtimeNs: bigint;
  ctimeNs: bigint;
}

/** The tick of the coarsest file system clock. A busy kernel's clock lags by less than this. */
const granularityNs = 2_000_000_000n;

export const stateKey = ({ dev, ino, size, mtimeNs, ctimeNs }: FileState) =>
  `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;

/** Whether the bytes read between two states of an open file belong to one version. */
export function sameBytes(before: FileState, after: FileState): boolean {
  return before.size === after.size && before.mtimeNs === after.mtimeNs;
}

/**
 * Whether the state identifies a file that is read from now on. A second write within the same clock tick changes the
 * bytes but not the times, so both times must lie well in the past. Only ctime is proof, because programs can set mtime.
 */
export function settled({ mtimeNs, ctimeNs }: FileState, nowMs: number): boolean {
  const latest = BigInt(nowMs) * 1_000_000n - granularityNs;
  return mtimeNs < latest && ctimeNs < latest;
}
