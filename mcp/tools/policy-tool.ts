import { routes } from '@hotcell/contract/api/routes.ts';
import { defaultPolicy } from '@hotcell/contract/names.ts';
import { policyPrompt } from '@hotcell/contract/policy-prompt.ts';
import { z } from 'zod';
import { tool } from '../tool.ts';
import { reads } from './job-tools.ts';

const PolicyChoice = z.object({
  name: z.string(),
  description: z.string(),
  languages: z.array(z.string()),
  images: z.array(z.string()),
  usual: z.boolean().describe('judges what names no policy'),
});

export const listPolicies = tool({
  name: 'list_policies',
  title: 'List what jobs may be allowed',
  describe: () =>
    'Lists the policies that a job can name: each allows certain languages, images, limits and inputs. With `policy`, says what a cell has and has not under that one.',
  input: z.strictObject({ policy: z.string().optional() }),
  output: z.object({ policies: z.array(PolicyChoice), cell: z.string().optional() }),
  hints: reads,
  act: async ({ api, signal }, { policy }) => {
    const listed = await api.call(routes.listPolicies, { signal });
    const policies = listed.policies
      .filter(({ name, revoked }) => !revoked && (policy === undefined || name === policy))
      .map(({ name, description, languages, images }) => ({
        name,
        description,
        languages,
        images,
        usual: name === defaultPolicy,
      }));
    const lines = policies.map(
      ({ name, description, languages, usual }) =>
        `${name}${usual ? ' (the usual one)' : ''}: ${description} Languages: ${languages.join(', ') || 'none'}.`,
    );
    if (policy === undefined) return { facts: { policies }, text: lines.join('\n') };
    const { policy: whole } = await api.call(routes.getPolicy, { params: { policy }, signal });
    const cell = policyPrompt(whole, undefined);
    return { facts: { policies, cell }, text: [...lines, cell].join('\n') };
  },
});
