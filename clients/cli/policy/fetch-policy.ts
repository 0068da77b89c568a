import { Policy } from '@hotcell/contract/policy.ts';
import { PolicyRevocation } from '@hotcell/contract/policy.ts';
import { z } from 'zod';
import { openClient } from '../client.ts';
import type { Globals } from '../globals.ts';

export const PolicyView = z.looseObject({
  name: z.string(),
  digest: z.string(),
  revoked: PolicyRevocation.nullable(),
  policy: Policy,
});
export type PolicyView = z.infer<typeof PolicyView>;

export async function policyOf(named: string, globals: Globals): Promise<PolicyView> {
  const { http } = await openClient(globals);
  return await http.json(PolicyView, 'GET', `/v1/policies/${encodeURIComponent(named)}`);
}
