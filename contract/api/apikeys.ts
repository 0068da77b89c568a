import { z } from 'zod';
import { TenantName } from '../names.ts';
import { ApiKeyView as View, Role } from '../apikey.ts';
import { answerObject, answerSchema, jsonAnswer, jsonBody, requestObject, tagged } from './route.ts';

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
    answers: {
      200: jsonAnswer('the keys', answerObject('ApiKeyPage', { keys: z.array(ApiKeyView) })),
    },
  }),
  revokeApiKey: route('DELETE /v1/apikeys/{id}', 'admin', 'Revoke an API key everywhere, within two seconds', {
    params: z.strictObject({ id: z.string() }),
    answers: { 200: jsonAnswer('revoked', ApiKeyView) },
    problems: [404, 409],
  }),
};
