import { routes } from '@hotcell/contract/api/routes.ts';
import { defaultPolicy } from '@hotcell/contract/names.ts';
import { policyPrompt } from '@hotcell/contract/policy-prompt.ts';
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Api } from './api.ts';

/** The paragraph for a model's system prompt, as `./hotcell policy prompt` prints it. */
export function addPrompts(server: McpServer, api: Api): void {
  server.registerPrompt(
    'cell',
    {
      title: 'What a cell has and has not',
      description: 'Tells a model what its code finds in a cell under a policy.',
      argsSchema: z.object({ policy: z.string().optional().describe('its name; left out: the usual one') }),
    },
    async ({ policy = defaultPolicy }) => {
      const view = await api.call(routes.getPolicy, { params: { policy } });
      const text = policyPrompt(view.policy, undefined);
      return { description: view.policy.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
    },
  );
}
