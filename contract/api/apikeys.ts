import { z } from 'zod';
import { TenantName } from '../names.ts';
import { ApiKeyView as View, Role } from '../apikey.ts';
import { answerSchema, jsonAnswer, jsonBody, requestSchema, type Route } from './route.ts';

const ApiKeyView = answerSchema('ApiKey', View);

export const apiKeyRoutes = {
  createApiKey: {
    method: 'POST',
    path: '/v1/apikeys',
    summary: 'Create an API key; it is shown only in this answer',
    tag: 'apikeys',
    role: 'admin',
    body: jsonBody(
      requestSchema(
        'ApiKeyRequest',
        z.strictObject({
          role: Role,
          label: z.string().max(128).default(''),
          tenant: TenantName.optional().describe('another tenant than the caller’s: for the operator only'),
          expiresAt: z.iso.datetime().optional(),
        }),
      ),
    ),
    answers: { 201: jsonAnswer('created', answerSchema('NewApiKey', ApiKeyView.extend({ key: z.string() }))) },
  },
  listApiKeys: {
    method: 'GET',
    path: '/v1/apikeys',
    summary: 'List API keys, without their secrets',
    tag: 'apikeys',
    role: 'admin',
    answers: {
      200: jsonAnswer('the keys', answerSchema('ApiKeyPage', z.strictObject({ keys: z.array(ApiKeyView) }))),
    },
  },
  revokeApiKey: {
    method: 'DELETE',
    path: '/v1/apikeys/{id}',
    summary: 'Revoke an API key everywhere, within two seconds',
    tag: 'apikeys',
    role: 'admin',
    params: z.strictObject({ id: z.string() }),
    answers: { 200: jsonAnswer('revoked', ApiKeyView) },
    problems: [404, 409],
  },
} as const satisfies Record<string, Route>;
