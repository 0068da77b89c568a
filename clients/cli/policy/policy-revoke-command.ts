import { routes } from '@hotcell/contract/api/routes.ts';
import { openClient } from '../client.ts';
import { type Globals, printJson } from '../globals.ts';
import { reporterFor } from '../reporter.ts';

export async function revoke(digest: string, reason: string, globals: Globals): Promise<void> {
  const client = await openClient(globals);
  const revoked = await client.call(routes.revokePolicy, { params: { policy: digest }, json: { reason } });
  if (globals.json) printJson(revoked);
  reporterFor(globals).note(
    `Revoked ${revoked.policy} at ${revoked.at} (${revoked.reason}). Within seconds no run can use it.`,
  );
}
