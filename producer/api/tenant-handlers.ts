import { madeTenants, makeTenant } from '@hotcell/record/made-tenants.ts';
import { operatorTenant } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import type { Handlers } from './register-routes.ts';

export function tenantHandlers({ store }: Producer) {
  return {
    async createTenant({ caller, body: { tenant }, reply }) {
      const by = `key ${caller.key}`;
      const { version: _version, ...made } = await makeTenant(store, {
        version: 1,
        tenant,
        by,
        at: new Date().toISOString(),
      });
      reply.code(201);
      return made;
    },

    async listTenants() {
      const made = await Array.fromAsync(madeTenants(store));
      return { tenants: [...new Set([operatorTenant, ...made])] };
    },
  } satisfies Partial<Handlers>;
}
