import { z } from 'zod';
import { TenantName } from '../names.ts';
import { forEachQuota, QuotaOrigin, TenantQuota as Quota } from '../quota.ts';
import { answerObject, jsonAnswer, jsonBody, requestSchema, tagged } from './route.ts';

const QuotaUse = answerObject('QuotaUse', {
  limit: z.number().nullable().describe('null: unlimited'),
  used: z.number().nullable().describe('null: not counted, or not known at the moment'),
  from: QuotaOrigin.describe(
    'api: set by PUT; file: the tenant’s in the file; defaults: the file’s; shipped: Hotcell’s own',
  ),
});
const TenantQuotas = answerObject('TenantQuotas', {
  tenant: TenantName,
  quotas: z.strictObject(forEachQuota((_name, { help }) => QuotaUse.describe(help))),
});
export type TenantQuotas = z.infer<typeof TenantQuotas>;

const params = z.strictObject({ tenant: TenantName });
const route = tagged('quotas');

export const quotaRoutes = {
  listQuotas: route('GET /v1/quotas', 'operator', 'List the tenants that have quotas of their own', {
    answers: {
      200: jsonAnswer(
        'their quotas',
        answerObject('QuotaList', {
          tenants: z.array(TenantQuotas),
          problems: z.array(z.string()).describe('why a change of the file is not in force'),
        }),
      ),
    },
  }),
  getQuotas: route('GET /v1/quotas/{tenant}', 'reader', 'Show the quotas of a tenant, and what it uses of them', {
    description: 'The caller’s own tenant; the operator sees every tenant.',
    params,
    answers: { 200: jsonAnswer('the quotas', TenantQuotas) },
    problems: [404],
  }),
  setQuotas: route('PUT /v1/quotas/{tenant}', 'operator', 'Set quotas of a tenant', {
    description: 'Replaces all that was set here before. What the body leaves out follows from the file of quotas.',
    params,
    body: jsonBody(requestSchema('TenantQuota', Quota)),
    answers: { 200: jsonAnswer('the quotas now in force', TenantQuotas) },
    problems: [404],
  }),
  unsetQuotas: route(
    'DELETE /v1/quotas/{tenant}',
    'operator',
    'Let the quotas of a tenant follow from the file again',
    {
      params,
      answers: { 200: jsonAnswer('the quotas now in force', TenantQuotas) },
    },
  ),
};
