import { z } from 'zod';

/** For how many days no account can remove what a run leaves in the record: none at all, or none without a special right. */
export const Retention = z.strictObject({
  mode: z.enum(['governance', 'compliance']),
  days: z.number().int().min(1).max(36_500, 'must be at most 36500, a hundred years'),
});
export type Retention = z.infer<typeof Retention>;
