import { routes } from '@hotcell/contract/api/routes.ts';
import { defaultPolicy } from '@hotcell/contract/names.ts';
import { policyPrompt } from '@hotcell/contract/policy-prompt.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import { serveClient } from '@hotcell/mcp/stdio.ts';
import type { Command } from 'commander';
import { type AtHand, asksApi } from './client.ts';
import { examples } from './globals.ts';
import { reportOf } from './policy/local-report.ts';

export function define(command: Command): void {
  examples(command, ['mcp', 'claude mcp add hotcell -- ./hotcell mcp', '--url https://hotcell.example mcp']);
  asksApi(command, serve);
}

/** The client that starts this process speaks MCP on its stdin and stdout; what is said to people goes to stderr. */
async function serve({ client, note }: AtHand): Promise<void> {
  const cell = await cellOf(client).catch((error: unknown) => {
    note(`The tools don't say what a cell has: ${messageOf(error)}`);
    return undefined;
  });
  serveClient({ api: client, cell }, (error) => note(error.message));
}

async function cellOf(client: AtHand['client']): Promise<string> {
  const { policy } = await client.call(routes.getPolicy, { params: { policy: defaultPolicy } });
  return policyPrompt(policy, await reportOf(policy.images[0]));
}
