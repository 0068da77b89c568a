import { z } from 'zod';
import { dayMs } from './day-length.ts';

/** For how many days no account can remove what a run leaves in the record: none at all, or none without a special right. */
export const Retention = z.strictObject({
  mode: z.enum(['governance', 'compliance']),
  days: z.number().int().min(1).max(36_500, 'must be at most 36500, a hundred years'),
});
export type Retention = z.infer<typeof Retention>;

/** What a policy says of it. A run's spec has the part that locks; what happens afterwards is looked up when it is time. */
export const PolicyRetention = Retention.extend({
  /** When the days are over, the next collection erases the run: its code, log and outputs. Without it, they stay. */
  after: z.literal('erase').optional(),
});
export type PolicyRetention = z.infer<typeof PolicyRetention>;

export const lockingPart = ({ mode, days }: PolicyRetention): Retention => ({ mode, days });

/** From when on the policy wants what the run left erased; undefined if it never does. */
export function erasableSince(retention: PolicyRetention | undefined, finishedAt: string): Date | undefined {
  if (retention?.after !== 'erase') return undefined;
  return new Date(Date.parse(finishedAt) + retention.days * dayMs);
}
