import type { RunId } from '@hotcell/contract/names.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { diffOf } from '@hotcell/contract/snapshot-diff.ts';

export interface Reproduction {
  origin: RunId;
  reproduction: RunId;
  identical: boolean;
  /** How the two ended, if they did not end alike. */
  ends: { before: string; after: string } | null;
  outputs: ReturnType<typeof diffOf>;
  /** What the two left in /work, if it is not the same. */
  workspace?: { before: string | null; after: string | null };
}

/**
 * Whether a run came out as before: the same end, and the same bytes in the same files. A log has the times of its rows
 * in it, so no two are the same.
 */
export function reproductionOf(before: Result, after: Result): Reproduction {
  const outputs = diffOf(before.outputs.files, after.outputs.files);
  const [was, is] = [endOf(before), endOf(after)];
  const isSame = outputs.added.length + outputs.removed.length + outputs.changed.length === 0;
  const ends = was === is ? null : { before: was, after: is };
  const [left, leaves] = [before, after].map(({ workspace }) => workspace?.after ?? null);
  const workspace = left === leaves ? {} : { workspace: { before: left ?? null, after: leaves ?? null } };
  const identical = isSame && ends === null && left === leaves;
  return { origin: before.run, reproduction: after.run, identical, ends, outputs, ...workspace };
}

function endOf({ outcome, exitCode, blocks }: Result): string {
  const each = blocks.map((block) => block.signal ?? block.exitCode ?? 'not ended');
  return `${outcome}${exitCode === null ? '' : ` with exit code ${exitCode}`}${each.length > 1 ? ` (blocks: ${each.join(', ')})` : ''}`;
}
