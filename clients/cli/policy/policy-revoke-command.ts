import { PolicyRevocation } from '@hotcell/contract/policy.ts';
import { openClient } from '../client.ts';
import { type Globals, printJson } from '../globals.ts';
import { reporterFor } from '../reporter.ts';

export async function revoke(digest: string, reason: string, globals: Globals): Promise<void> {
  const { http } = await openClient(globals);
  const path = `/v1/policies/${encodeURIComponent(digest)}/revoke`;
  const revoked = await http.json(PolicyRevocation, 'POST', path, { json: { reason } });
  if (globals.json) printJson(revoked);
  reporterFor(globals).note(
    `${revoked.policy} is revoked since ${revoked.at} (${revoked.reason}); within seconds nothing runs under it any more`,
  );
}
