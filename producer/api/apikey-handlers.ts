import { ApiKeyView } from '@hotcell/contract/apikey.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { newApiKey, pageOfApiKeys, putApiKey, readApiKey } from '@hotcell/record/api-keys.ts';
import type { ApiKeyRecord } from '@hotcell/record/schemas.ts';
import { mayManageKeysOf } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import type { Handlers } from './register-routes.ts';

export function apiKeyHandlers(producer: Producer) {
  const { store } = producer;
  return {
    async createApiKey({ caller, body, reply }) {
      const { role, label, expiresAt, tenant = caller.tenant } = body;
      if (!mayManageKeysOf(caller, tenant))
        throw new HotcellError(
          'forbidden',
          `This key creates keys for the tenant ${caller.tenant} only. Leave out tenant, or use that tenant's admin key.`,
        );
      if (tenant !== caller.tenant) await producer.tenants.require(tenant);
      const { key, record } = newApiKey({ tenant, role, label, expiresAt });
      await putRecord(producer, record);
      reply.code(201);
      return { ...shown(record), key };
    },

    async listApiKeys({ caller, query: { limit, cursor } }) {
      const mayShow = (tenant: string) => mayManageKeysOf(caller, tenant);
      const { records, next } = await pageOfApiKeys(store, mayShow, { limit, after: cursor });
      return { keys: records.map(shown), next };
    },

    async revokeApiKey({ caller, params: { id } }) {
      const known = ApiKeyView.shape.id.safeParse(id).success;
      const record = known ? await readApiKey(store, id) : undefined;
      if (!record || !mayManageKeysOf(caller, record.tenant))
        throw new HotcellError('not_found', `API key ${id} not found. GET /v1/apikeys lists the keys.`);
      if (id === caller.key)
        throw new HotcellError('conflict', "You can't revoke the key you are using. Use another admin key.");
      const revoked: ApiKeyRecord = { ...record, revokedAt: record.revokedAt ?? new Date().toISOString() };
      await putRecord(producer, revoked);
      return shown(revoked);
    },
  } satisfies Partial<Handlers>;
}

function shown(record: ApiKeyRecord): ApiKeyView {
  const { version: _version, sha256: _sha256, ...view } = record;
  return view;
}

async function putRecord({ store, keys, openRequests }: Producer, record: ApiKeyRecord): Promise<void> {
  await putApiKey(store, record);
  keys.forget(record.id);
  await openRequests.look(record.id);
}
