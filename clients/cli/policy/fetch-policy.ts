import type { PolicyView } from '@hotcell/contract/api/policies.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import { openClient } from '../client.ts';
import type { Globals } from '../globals.ts';

export async function policyOf(named: string, globals: Globals): Promise<PolicyView> {
  const client = await openClient(globals);
  return await client.call(routes.getPolicy, { params: { policy: named } });
}
