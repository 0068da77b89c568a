import { dayMs } from '@hotcell/contract/day-length.ts';
import type { Retention } from '@hotcell/contract/retention.ts';
import type { ObjectLock } from '@hotcell/outside/store/store-put.ts';
import type { Kind } from './object-kind.ts';

/** The lock that an object of this kind gets in its put; none for other kinds, and without a retention. */
export function lockFor(
  { locks }: Pick<Kind, 'locks'>,
  retention: Retention | undefined,
  now = Date.now(),
): ObjectLock | undefined {
  if (!locks || !retention) return undefined;
  // Stores keep whole seconds, and may cut off the rest.
  const until = new Date((Math.ceil(now / 1000) + 1) * 1000 + retention.days * dayMs);
  return { mode: retention.mode === 'compliance' ? 'COMPLIANCE' : 'GOVERNANCE', until };
}
