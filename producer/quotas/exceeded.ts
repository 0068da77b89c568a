import { HotcellError } from '@hotcell/contract/errors.ts';
import { type EffectiveQuota, type QuotaName, quotaTable, showQuota } from '@hotcell/contract/quota.ts';

const advice: Readonly<Record<QuotaName, string>> = {
  waitingRuns: 'Try again when some have begun',
  runningRuns: 'Try again when some have ended',
  runningCpus: 'Try again when some have ended',
  openStreams: 'End one, or try again when one has ended',
  requestsPerSecond: 'Send fewer',
};

/** The one refusal of every quota: which, its value, what is used of it, and when to try again. */
export function quotaExceeded(
  tenant: string,
  name: QuotaName,
  quota: EffectiveQuota,
  used: number,
  retryAfterSeconds = quotaTable[name].retryAfterSeconds,
): HotcellError {
  const { limit } = quota[name];
  return new HotcellError(
    'quota_exceeded',
    `The tenant ${tenant} has reached its quota ${name}: ${showQuota(name, used)} of ${showQuota(name, limit)}. ${advice[name]}, or ask the operator for more.`,
    { extra: { quota: name, limit, used, retryAfterSeconds } },
  );
}
