import { z } from 'zod';
import { TenantName } from '../names.ts';
import { answerObject, jsonAnswer, jsonBody, requestObject, tagged } from './route.ts';

const Tenant = answerObject('Tenant', { tenant: TenantName, at: z.iso.datetime(), by: z.string() });

const route = tagged('tenants');

export const tenantRoutes = {
  createTenant: route('POST /v1/tenants', 'operator', 'Make a tenant', {
    description: 'Keys are made for it, and the operator acts for it, only then. Making it again changes nothing.',
    body: jsonBody(requestObject('TenantRequest', { tenant: TenantName })),
    answers: { 201: jsonAnswer('the tenant, as it was first made', Tenant) },
  }),
  listTenants: route('GET /v1/tenants', 'operator', 'List the tenants that were made', {
    answers: {
      200: jsonAnswer('their names', answerObject('TenantList', { tenants: z.array(TenantName) })),
    },
  }),
};
