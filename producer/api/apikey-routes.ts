import { newApiKey } from '@hotcell/record/api-keys.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { TenantName } from '@hotcell/contract/names.ts';
import { ApiKeyRecord } from '@hotcell/record/schemas.ts';
import { ApiKeyView, Role } from '@hotcell/contract/apikey.ts';
import { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import { type App, callerOf } from './app.ts';
import { Problem } from './problem.ts';

const NewKey = z.strictObject({
  role: Role,
  label: z.string().max(128).default(''),
  tenant: TenantName.optional(),
  expiresAt: z.iso.datetime().optional(),
});

/** Keys of a tenant are its admin's; those of all tenants the operator's. */
export function apiKeyRoutes(app: App, producer: Producer): void {
  const { store } = producer;

  app.post(
    '/v1/apikeys',
    {
      schema: {
        summary: 'Make a key; it is shown this once and kept nowhere',
        tags: ['apikeys'],
        body: NewKey,
        response: { 201: ApiKeyView.extend({ key: z.string() }), 403: Problem },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request, 'admin');
      const { role, label, expiresAt, tenant = caller.tenant } = request.body;
      if (!mayManage(caller, tenant))
        throw new HotcellError('forbidden', `this key makes keys for ${caller.tenant} alone`);
      const { key, record } = newApiKey({
        tenant,
        role,
        label,
        expiresAt: expiresAt ? new Date(expiresAt) : undefined,
      });
      await putRecord(producer, record);
      return reply.code(201).send({ ...shown(record), key });
    },
  );

  app.get(
    '/v1/apikeys',
    {
      schema: {
        summary: 'The keys, without what opens anything',
        tags: ['apikeys'],
        response: { 200: z.strictObject({ keys: z.array(ApiKeyView) }) },
      },
    },
    async (request) => {
      const caller = callerOf(request, 'admin');
      const keys: ApiKeyView[] = [];
      for await (const { key } of store.list(store.record, 'apikeys/')) {
        const record = await store.getJson(ApiKeyRecord, store.record, key);
        if (record && mayManage(caller, record.tenant)) keys.push(shown(record));
      }
      return { keys: keys.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt)) };
    },
  );

  app.delete(
    '/v1/apikeys/:id',
    {
      schema: {
        summary: 'Revoke a key: in force everywhere within two seconds',
        tags: ['apikeys'],
        params: z.strictObject({ id: z.string() }),
        response: { 200: ApiKeyView, 404: Problem, 409: Problem },
      },
    },
    async (request) => {
      const caller = callerOf(request, 'admin');
      const { id } = request.params;
      const known = ApiKeyRecord.shape.id.safeParse(id).success;
      const record = known ? await store.getJson(ApiKeyRecord, store.record, recordKeys.apiKey(id)) : undefined;
      if (!record || !mayManage(caller, record.tenant))
        throw new HotcellError('not_found', `there is no API key ${id}: ./hotcell apikey ls lists them`);
      if (id === caller.key)
        throw new HotcellError(
          'conflict',
          'this is the key that asks: revoke it with another one, or nobody may be left who can',
        );
      const revoked: ApiKeyRecord = { ...record, revokedAt: record.revokedAt ?? new Date().toISOString() };
      await putRecord(producer, revoked);
      return shown(revoked);
    },
  );
}

function mayManage(caller: Caller, tenant: string): boolean {
  return caller.operator || caller.tenant === tenant;
}

function shown({ id, tenant, role, label, createdAt, expiresAt, revokedAt }: ApiKeyRecord): ApiKeyView {
  return { id, tenant, role, label, createdAt, ...(expiresAt && { expiresAt }), ...(revokedAt && { revokedAt }) };
}

async function putRecord(producer: Producer, record: ApiKeyRecord): Promise<void> {
  await producer.store.put(producer.store.record, recordKeys.apiKey(record.id), JSON.stringify(record));
  producer.keys.forget(record.id);
}
