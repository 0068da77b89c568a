import type { RunId } from '@hotcell/contract/names.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Quotas } from './quota-book.ts';
import { quotaExceeded } from './exceeded.ts';

interface Deps {
  live: Pick<Live, 'tenants'>;
  quotas: Pick<Quotas, 'of'>;
}

/** Counts a run that is about to be accepted, or refuses it. Without Valkey there is no count, and runs are accepted. */
export async function countWaiting({ live, quotas }: Deps, tenant: string, run: RunId): Promise<void> {
  const quota = quotas.of(tenant);
  const { counted, waiting } = await live.tenants
    .open(tenant, run, quota.waitingRuns.limit)
    .catch(() => ({ counted: true, waiting: 0 }));
  if (!counted) throw quotaExceeded(tenant, 'waitingRuns', quota, waiting);
}
