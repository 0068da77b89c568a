import type { TenantQuotas } from '@hotcell/contract/api/quotas.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { TenantName } from '@hotcell/contract/names.ts';
import { parseAs } from '@hotcell/contract/parse.ts';
import { forEachQuota, type QuotaName, type TenantQuota } from '@hotcell/contract/quota.ts';
import type { Caller } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import type { Handlers } from './register-routes.ts';

export function quotaHandlers(producer: Producer) {
  const { quotas, tenants } = producer;
  const set = async (caller: Caller, named: string, quota: TenantQuota) => {
    const tenant = parseAs(TenantName, named, 'the tenant');
    await quotas.set(tenant, quota, caller.key);
    return await useOf(producer, tenant);
  };
  return {
    listQuotas: async () => ({
      tenants: await Promise.all(quotas.tenants().map((tenant) => useOf(producer, tenant))),
      problems: [...quotas.problems()],
    }),

    async getQuotas({ caller, params: { tenant } }) {
      if (!caller.operator && tenant !== caller.tenant)
        throw new HotcellError('not_found', `This key shows the quotas of the tenant ${caller.tenant} only.`);
      return await useOf(producer, parseAs(TenantName, tenant, 'the tenant'));
    },

    async setQuotas({ caller, params: { tenant }, body }) {
      // For a mistyped name they would count for a tenant that has no user.
      await tenants.require(parseAs(TenantName, tenant, 'the tenant'));
      return await set(caller, tenant, body);
    },
    unsetQuotas: async ({ caller, params: { tenant } }) => await set(caller, tenant, {}),
  } satisfies Partial<Handlers>;
}

async function useOf({ quotas, live, streams }: Producer, tenant: string): Promise<TenantQuotas> {
  const asked = Promise.all([live.tenants.use(tenant), live.stored.used(tenant)]);
  const [runs, stored] = await asked.catch((error: unknown) => {
    // The quotas are known without Valkey; what is used of them is not.
    if (!(error instanceof HotcellError && error.code === 'queue_unavailable')) throw error;
    return [];
  });
  const used: Record<QuotaName, number | null> = {
    waitingRuns: runs?.waiting ?? null,
    runningRuns: runs?.running ?? null,
    runningCpus: runs?.cpus ?? null,
    storedBytes: stored ?? null,
    openStreams: streams.of(tenant),
    requestsPerSecond: null,
  };
  const quota = quotas.of(tenant);
  return {
    tenant,
    quotas: forEachQuota((name) => {
      const { limit, from } = quota[name];
      return { limit: limit === Number.POSITIVE_INFINITY ? null : limit, used: used[name], from };
    }),
  };
}
