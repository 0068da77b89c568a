import { HotcellError } from './errors.ts';
import { type QuotaName, quotaTable, showQuota } from './quota.ts';

const advice: Readonly<Record<QuotaName, string>> = {
  waitingRuns: 'Try again when some have begun',
  runningRuns: 'Try again when some have ended',
  runningCpus: 'Try again when some have ended',
  storedBytes: 'Have the operator collect what nothing needs any more (./hotcell gc)',
  openStreams: 'End one, or try again when one has ended',
  requestsPerSecond: 'Send fewer',
};

interface Exceeded {
  limit: number;
  used: number;
  /** What there is no room for, where that is more than one. */
  needed?: number;
}

/** The one refusal of every quota: which, its value, what is used of it, and when to try again. */
export function quotaExceeded(tenant: string, name: QuotaName, { limit, used, needed }: Exceeded): HotcellError {
  const { retryAfterSeconds } = quotaTable[name];
  const state = `${showQuota(name, used)} of ${showQuota(name, limit)}`;
  const what =
    needed === undefined
      ? `The tenant ${tenant} has reached its quota ${name}: ${state}`
      : `The tenant ${tenant} has no room for ${showQuota(name, needed)} more in its quota ${name}: it uses ${state}`;
  return new HotcellError('quota_exceeded', `${what}. ${advice[name]}, or ask the operator for more.`, {
    extra: { quota: name, limit, used, retryAfterSeconds },
  });
}
