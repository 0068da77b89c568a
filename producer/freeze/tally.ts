import { HotcellError } from '@hotcell/contract/errors.ts';
import { snapshotLimits } from '@hotcell/contract/snapshot.ts';

export interface TallyLimits {
  files: number;
  bytes: number;
  /** Where the limits come from, after the number in a message. */
  because?: string;
}
const oneSnapshot = 'the most that one snapshot holds. Freeze parts of it, or pack small files together';

/** Counts while listing, and ends the listing at the limit: a million keys are neither held nor read. */
export function tally(what: string, { files, bytes, because = oneSnapshot }: TallyLimits = snapshotLimits) {
  const counted = { files: 0, bytes: 0 };
  return {
    add(size: number): void {
      counted.files += 1;
      counted.bytes += size;
      if (counted.files > files)
        throw new HotcellError('too_large', `${what} has more than ${files} files, ${because}.`);
      if (counted.bytes > bytes)
        throw new HotcellError('too_large', `${what} has more than ${bytes} bytes, ${because}.`);
    },

    /** An input of nothing is a mistake in its address more often than it is meant. */
    refuseNothing(): void {
      if (counted.files === 0) throw new HotcellError('snapshot_refused', `${what} holds no files. Check its address.`);
    },
  };
}
