import { z } from 'zod';
import { Digest } from '../digest.ts';
import { limitNames } from '../limits.ts';
import { PolicyName, RunId, TenantName } from '../names.ts';
import { Policy as ResolvedPolicy, PolicyRevocation as Revocation } from '../policy.ts';
import { Issues, Result } from '../result.ts';
import { answerObject, answerSchema, jsonAnswer, jsonBody, requestObject, tagged } from './route.ts';
import { RunParams } from './runs.ts';

const Policy = answerSchema('Policy', ResolvedPolicy);
const PolicyRevocation = answerSchema('PolicyRevocation', Revocation);

const PolicyPage = answerObject('PolicyPage', {
  policies: z.array(
    z.strictObject({
      name: PolicyName,
      digest: Digest,
      description: z.string(),
      runtime: Policy.shape.runtime,
      images: z.array(z.string()),
      languages: z.array(z.string()),
      revoked: z.boolean(),
    }),
  ),
  problems: z
    .array(z.strictObject({ file: z.string(), line: z.number(), column: z.number(), message: z.string() }))
    .describe('what is wrong with the policies that cannot be used'),
});

export const PolicyView = answerObject('PolicyView', {
  name: PolicyName,
  digest: Digest,
  revoked: PolicyRevocation.nullable(),
  policy: Policy,
});
export type PolicyView = z.infer<typeof PolicyView>;

export const PolicyTrial = answerObject('PolicyTrial', {
  looked: z.number().int().describe('how many past runs were judged again'),
  refused: z.array(z.strictObject({ run: RunId, reasons: Issues })),
});
export type PolicyTrial = z.infer<typeof PolicyTrial>;

/** Why a run was admitted or refused, and where each of its limits comes from. */
export const Explanation = answerObject('Explanation', {
  run: RunId,
  tenant: TenantName,
  policy: Result.shape.policy,
  revoked: PolicyRevocation.nullable(),
  admitted: z.boolean(),
  reasons: Issues,
  warnings: z.array(z.string()),
  runtime: z.string().nullable(),
  queue: z.string().nullable(),
  image: Result.shape.image,
  env: z.array(z.string()),
  limits: z.array(
    z.strictObject({
      name: z.enum(limitNames),
      asked: z.number().nullable(),
      min: z.number(),
      default: z.number(),
      max: z.number(),
      effective: z.number().nullable(),
    }),
  ),
});
export type Explanation = z.infer<typeof Explanation>;

const route = tagged('policies');

export const policyRoutes = {
  listPolicies: route('GET /v1/policies', 'reader', 'List the policies that a run can name', {
    answers: { 200: jsonAnswer('the policies', PolicyPage) },
  }),
  getPolicy: route('GET /v1/policies/{policy}', 'reader', 'Show a policy, merged and resolved', {
    description: 'By name as it is now, or by digest as runs were judged by it.',
    params: z.strictObject({ policy: z.string().describe('a name or a digest') }),
    answers: { 200: jsonAnswer('the policy', PolicyView) },
    problems: [404],
  }),
  tryPolicy: route('POST /v1/policies/try', 'reader', 'Find the past runs that a policy would refuse', {
    body: jsonBody(
      requestObject('PolicyTrialRequest', {
        name: PolicyName,
        policy: ResolvedPolicy,
        since: z.iso.datetime({ offset: true }),
      }),
    ),
    answers: { 200: jsonAnswer('the runs it would refuse', PolicyTrial) },
  }),
  revokePolicy: route(
    'POST /v1/policies/{policy}/revoke',
    'operator',
    'Revoke a policy for good: every later run under it is refused',
    {
      params: z.strictObject({ policy: Digest }),
      body: jsonBody(requestObject('RevokeRequest', { reason: z.string().min(1, 'say why').max(1000) })),
      answers: { 200: jsonAnswer('revoked', PolicyRevocation) },
      problems: [404],
    },
  ),
  explainRun: route(
    'GET /v1/runs/{run}/policy',
    'reader',
    'Explain why a run was admitted or refused, and where each of its limits comes from',
    {
      params: RunParams,
      answers: { 200: jsonAnswer('the explanation', Explanation) },
      problems: [404],
    },
  ),
};
