import { routes } from '@hotcell/contract/api/routes.ts';
import { openClient } from '../client.ts';
import { type Globals, printJson } from '../globals.ts';
import { reporterFor } from '../reporter.ts';

export async function revoke(digest: string, reason: string, globals: Globals): Promise<void> {
  const { http } = await openClient(globals);
  const revoked = await http.call(routes.revokePolicy, { params: { policy: digest }, json: { reason } });
  if (globals.json) printJson(revoked);
  reporterFor(globals).note(
    `${revoked.policy} is revoked since ${revoked.at} (${revoked.reason}); within seconds nothing runs under it any more`,
  );
}
