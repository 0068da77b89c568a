import { routes } from '@hotcell/contract/api/routes.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import { defaultPolicy } from '@hotcell/contract/names.ts';
import { showIssue } from '@hotcell/contract/parse.ts';
import { policyPrompt } from '@hotcell/contract/policy-prompt.ts';
import { z } from 'zod';
import type { Api } from './api.ts';

/** Why a call did not do what it was asked for. */
export const Failure = z.object({
  code: z.string(),
  message: z.string(),
  reasons: z.array(z.object({ path: z.string(), message: z.string() })).describe('every reason at once'),
  retryable: z.boolean().describe('whether the same call may succeed later'),
  run: z.string().optional().describe('the run that was accepted, or the recorded refusal'),
  allowed: z.string().optional().describe('what would be allowed'),
});
export type Failure = z.infer<typeof Failure>;

export async function failureOf(api: Api, error: unknown): Promise<Failure> {
  if (!(error instanceof HotcellError))
    return { code: 'internal', message: `The tool failed: ${messageOf(error)}`, reasons: [], retryable: false };
  const { code, message, issues, retryable, extra } = error;
  const run = typeof extra['run'] === 'string' ? { run: extra['run'] } : {};
  const refused = code === 'policy_refused';
  const allowed = refused ? { allowed: await allowedBy(api, policyIn(error)) } : {};
  return {
    code,
    message,
    reasons: issues.map(({ path, message: why }) => ({ path, message: why })),
    retryable,
    ...run,
    ...allowed,
  };
}

export function showFailure({ message, reasons, retryable, run, allowed }: Failure): string {
  const others = reasons.filter((reason) => !message.includes(reason.message));
  return [
    message,
    ...others.map((reason) => `- ${showIssue(reason)}`),
    ...(retryable ? ['The same call may succeed later.'] : []),
    ...(run === undefined ? [] : [`run: ${run}`]),
    ...(allowed === undefined ? [] : [`What is allowed: ${allowed}`]),
  ].join('\n');
}

/** A refusal, with the policy that the request named: the API's answer names it only in words. */
export function refusedUnder(error: unknown, policy: string | undefined): unknown {
  if (!(error instanceof HotcellError && error.code === 'policy_refused')) return error;
  const { code, message, issues, extra } = error;
  return new HotcellError(code, message, {
    issues,
    cause: error,
    extra: { ...extra, policy: policy ?? defaultPolicy },
  });
}

const policyIn = ({ extra }: HotcellError) => (typeof extra['policy'] === 'string' ? extra['policy'] : defaultPolicy);

async function allowedBy(api: Api, policy: string): Promise<string> {
  try {
    const view = await api.call(routes.getPolicy, { params: { policy } });
    return policyPrompt(view.policy, undefined);
  } catch {
    // There is no such policy, or the API is away: the names of the others still help, if they can be had.
    const names = await api.call(routes.listPolicies, {}).catch(() => ({ policies: [] }));
    return `the policies ${names.policies.map(({ name }) => name).join(', ') || '(they can not be listed now)'}.`;
  }
}
