import type { BatchRules } from './batch.ts';

/** All that is known of a batch when its next steps are decided. */
export interface BatchStanding {
  rules: Pick<BatchRules, 'parallel' | 'onFailure'>;
  /** Items of this round that have no run. */
  left: number;
  /** Runs that are accepted and have not ended. */
  open: number;
  /** Items of this round that ended without success. */
  unsuccessful: number;
  /** A caller cancelled it. */
  cancelled: boolean;
}

export interface BatchDecision {
  /** How many items to begin now. */
  begin: number;
  /** The runs that go on are to be cancelled. */
  cancelOpen: boolean;
  finished: boolean;
}

/** What a batch does next. Pure: the same standing always gives the same decision. */
export function decideBatch({ rules, left, open, unsuccessful, cancelled }: BatchStanding): BatchDecision {
  const failed = unsuccessful > 0 && rules.onFailure !== 'continue';
  // Items that are not begun any more are skipped.
  const wanted = cancelled || failed ? 0 : left;
  const begin = Math.max(0, Math.min(wanted, rules.parallel - open));
  const cancelOpen = open > 0 && (cancelled || (failed && rules.onFailure === 'cancel'));
  return { begin, cancelOpen, finished: wanted === 0 && open === 0 };
}
