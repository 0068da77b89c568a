import { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { PolicyName } from '@hotcell/contract/names.ts';
import { Policy } from '@hotcell/contract/policy.ts';
import { PolicyRevocation } from '@hotcell/contract/policy.ts';
import { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import type { Producer } from '../producer.ts';
import { explainRun } from '../policies/explain-run.ts';
import { pastUnder } from '../policies/past.ts';
import { runIdOf } from '../view-run.ts';
import { type App, callerOf } from './app.ts';
import { Problem } from './problem.ts';
import { RunPath } from './run-routes.ts';

const PolicyRow = z.strictObject({
  name: PolicyName,
  digest: Digest,
  description: z.string(),
  runtime: Policy.shape.runtime,
  images: z.array(z.string()),
  languages: z.array(z.string()),
  revoked: z.boolean(),
});
const PolicyProblem = z.strictObject({ file: z.string(), line: z.number(), column: z.number(), message: z.string() });
const PolicyView = z.strictObject({
  name: PolicyName,
  digest: Digest,
  revoked: PolicyRevocation.nullable(),
  policy: Policy,
});
const Issues = z.array(z.strictObject({ path: z.string(), message: z.string() }));
const PastView = z.strictObject({
  looked: z.number().int(),
  refused: z.array(z.strictObject({ run: z.string(), reasons: Issues })),
});

/** Policies belong to the installation: whoever runs it alone takes one away from everybody. */
function operatorOnly(caller: Caller): Caller {
  if (caller.tenant === 'default') return caller;
  throw new HotcellError('forbidden', 'only an admin of the tenant default may revoke a policy: it is everybody’s');
}

export function policyRoutes(app: App, producer: Producer): void {
  app.get(
    '/v1/policies',
    {
      schema: {
        summary: 'The policies that a run can name, and what is wrong with those that cannot be used',
        tags: ['policies'],
        response: { 200: z.strictObject({ policies: z.array(PolicyRow), problems: z.array(PolicyProblem) }) },
      },
    },
    async (request) => {
      callerOf(request);
      const revoked = new Set((await producer.pins.revocations()).map((revocation) => revocation.policy));
      const policies = producer.policies.list().map(({ policy, digest }) => ({
        name: policy.name,
        digest,
        description: policy.description,
        runtime: policy.runtime,
        images: policy.images.map((image) => image.name),
        languages: policy.languages.map((language) => language.name),
        revoked: revoked.has(digest),
      }));
      return { policies, problems: producer.policies.problems() };
    },
  );

  app.get(
    '/v1/policies/:policy',
    {
      schema: {
        summary: 'A policy, merged and resolved: by name as it is now, or by digest as a run was judged by it',
        tags: ['policies'],
        params: z.strictObject({ policy: z.string().describe('a name or a digest') }),
        response: { 200: PolicyView, 404: Problem },
      },
    },
    async (request) => {
      callerOf(request);
      return await viewOfPolicy(producer, request.params.policy);
    },
  );

  app.post(
    '/v1/policies/try',
    {
      schema: {
        summary: 'What a policy’s text would be here, and which past runs it would refuse',
        tags: ['policies'],
        body: z.strictObject({
          name: PolicyName,
          policy: Policy,
          since: z.iso.datetime({ offset: true }),
        }),
        response: { 200: PastView, 400: Problem },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      return await pastUnder(producer, tenant, request.body.policy, new Date(request.body.since));
    },
  );

  app.post(
    '/v1/policies/:policy/revoke',
    {
      schema: {
        summary: 'Take a policy’s text away, for good: from then on every run under it is refused',
        tags: ['policies'],
        params: z.strictObject({ policy: Digest }),
        body: z.strictObject({ reason: z.string().min(1, 'say why').max(1000) }),
        response: { 200: PolicyRevocation, 403: Problem, 404: Problem },
      },
    },
    async (request) => {
      const caller = operatorOnly(callerOf(request, 'admin'));
      const { policy } = request.params;
      // One that no run has used yet is put first: a revocation names a text that can be read.
      const unused = producer.policies.list().find(({ digest }) => digest === policy);
      const revoked = (await producer.pins.revocations()).some((revocation) => revocation.policy === policy);
      if (unused && !revoked) await producer.pins.pin(unused);
      return await producer.pins.revoke(policy, caller.key, request.body.reason);
    },
  );

  app.get(
    '/v1/runs/:run/policy',
    {
      schema: {
        summary: 'Why a run was let through or refused, and where each of its limits comes from',
        tags: ['policies', 'runs'],
        params: RunPath,
        response: { 200: z.looseObject({ run: z.string() }), 404: Problem },
      },
    },
    async (request) => await explainRun(producer, callerOf(request).tenant, runIdOf(request.params.run)),
  );
}

async function viewOfPolicy(producer: Producer, named: string): Promise<z.infer<typeof PolicyView>> {
  const digest = Digest.safeParse(named);
  if (digest.success) {
    const unused = producer.policies.list().find((one) => one.digest === digest.data);
    const { policy, revoked } = await producer.pins.get(digest.data).catch((error: unknown) => {
      // What no run has used yet is not in the record; what it says is known all the same.
      if (unused) return { policy: unused.policy, revoked: undefined };
      throw error;
    });
    return { name: policy.name, digest: digest.data, revoked: revoked ?? null, policy };
  }
  const found = producer.policies.list().find(({ policy }) => policy.name === named);
  if (!found) {
    const { message } = whyNot(producer, named);
    throw new HotcellError('not_found', message);
  }
  const revoked = (await producer.pins.revocations()).find((revocation) => revocation.policy === found.digest);
  return { name: named, digest: found.digest, revoked: revoked ?? null, policy: found.policy };
}

function whyNot(producer: Producer, named: string): Error {
  try {
    producer.policies.get(named);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  return new Error(`there is no policy ${named}`);
}
