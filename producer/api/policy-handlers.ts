import type { PolicyView } from '@hotcell/contract/api/policies.ts';
import { Digest } from '@hotcell/contract/digest.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { explainRun } from '../policies/explain-run.ts';
import { pastUnder } from '../policies/past.ts';
import type { Producer } from '../producer.ts';
import { runIdOf } from '../view-run.ts';
import type { Handlers } from './register-routes.ts';

export function policyHandlers(producer: Producer) {
  const { policies, pins } = producer;
  return {
    async listPolicies() {
      const revoked = new Set((await pins.revocations()).map((revocation) => revocation.policy));
      // Approvals can't be given yet, so a policy that needs one refuses every run: it is no choice to offer.
      const offered = policies.list().filter(({ policy }) => policy.approval === undefined);
      const rows = offered.map(({ policy, digest }) => ({
        name: policy.name,
        digest,
        description: policy.description,
        runtime: policy.runtime,
        images: policy.images.map((image) => image.name),
        languages: policy.languages.map((language) => language.name),
        revoked: revoked.has(digest),
      }));
      return { policies: rows, problems: policies.problems() };
    },

    getPolicy: async ({ params }) => await viewOfPolicy(producer, params.policy),

    tryPolicy: async ({ caller, body }) => await pastUnder(producer, caller.tenant, body.policy, new Date(body.since)),

    async revokePolicy({ caller, params: { policy }, body }) {
      // A policy that no run has used yet is pinned first: a revocation names a text that can be read.
      const unused = policies.list().find(({ digest }) => digest === policy);
      const revoked = (await pins.revocations()).some((revocation) => revocation.policy === policy);
      if (unused && !revoked) await pins.pin(unused);
      return await pins.revoke(policy, caller.key, body.reason);
    },

    explainRun: async ({ caller, params }) => await explainRun(producer, caller.tenant, runIdOf(params.run)),
  } satisfies Partial<Handlers>;
}

async function viewOfPolicy({ policies, pins }: Producer, named: string): Promise<PolicyView> {
  const digest = Digest.safeParse(named);
  if (digest.success) {
    const unused = policies.list().find((one) => one.digest === digest.data);
    const { policy, revoked } = await pins.get(digest.data).catch((error: unknown) => {
      // The record has no policy that no run has used; the folder has.
      if (unused) return { policy: unused.policy, revoked: undefined };
      throw error;
    });
    return { name: policy.name, digest: digest.data, revoked: revoked ?? null, policy };
  }
  const { policy, digest: current } = loaded(policies, named);
  const revoked = (await pins.revocations()).find((revocation) => revocation.policy === current);
  return { name: named, digest: current, revoked: revoked ?? null, policy };
}

/** The shelf says why it has no such policy; here the address names it, so it is not found. */
function loaded(policies: Producer['policies'], named: string) {
  try {
    return policies.get(named);
  } catch (cause) {
    throw new HotcellError('not_found', messageOf(cause), { cause });
  }
}
