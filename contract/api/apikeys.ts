import { z } from 'zod';
import { TenantName } from '../names.ts';
import { ApiKeyView as View, Role } from '../apikey.ts';
import { answerObject, answerSchema, inDigits, jsonAnswer, jsonBody, requestObject, tagged } from './route.ts';

const ApiKeyView = answerSchema('ApiKey', View);

const route = tagged('apikeys');

export const apiKeyRoutes = {
  createApiKey: route('POST /v1/apikeys', 'admin', 'Create an API key; it is shown only in this answer', {
    body: jsonBody(
      requestObject('ApiKeyRequest', {
        role: Role,
        label: z.string().max(128).default(''),
        tenant: TenantName.optional().describe('another tenant than the caller’s: for the operator only'),
        expiresAt: z.iso.datetime().optional(),
      }),
    ),
    answers: { 201: jsonAnswer('created', answerSchema('NewApiKey', ApiKeyView.extend({ key: z.string() }))) },
  }),
  listApiKeys: route('GET /v1/apikeys', 'admin', 'List API keys, without their secrets', {
    query: z.strictObject({
      limit: inDigits(z.number().int().min(1).max(500)).default(100),
      cursor: View.shape.id.optional().describe('the "next" of the page before'),
    }),
    answers: {
      200: jsonAnswer(
        'a page of keys, in the order of their ids; it may hold fewer than asked for, or none, and have a "next"',
        answerObject('ApiKeyPage', { keys: z.array(ApiKeyView), next: View.shape.id.nullable() }),
      ),
    },
  }),
  revokeApiKey: route('DELETE /v1/apikeys/{id}', 'admin', 'Revoke an API key everywhere, within two seconds', {
    params: z.strictObject({ id: z.string() }),
    answers: { 200: jsonAnswer('revoked', ApiKeyView) },
    problems: [404, 409],
  }),
};
