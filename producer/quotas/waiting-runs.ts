import type { RunId } from '@hotcell/contract/names.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Quotas } from './quota-book.ts';
import { quotaExceeded } from '@hotcell/contract/quota-exceeded.ts';

interface Deps {
  live: Pick<Live, 'tenants'>;
  quotas: Pick<Quotas, 'of'>;
}

/** Counts a run that is about to be accepted, or refuses it. Without Valkey there is no count, and runs are accepted. */
export async function countWaiting({ live, quotas }: Deps, tenant: string, run: RunId): Promise<void> {
  const { limit } = quotas.of(tenant).waitingRuns;
  const { counted, waiting } = await live.tenants.open(tenant, run, limit).catch(() => ({ counted: true, waiting: 0 }));
  if (!counted) throw quotaExceeded(tenant, 'waitingRuns', { limit, used: waiting });
}
