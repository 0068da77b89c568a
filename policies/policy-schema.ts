import { PolicyFile } from '@hotcell/contract/policy-file.ts';
import { z } from 'zod';

/** policies/policy.schema.json, with which editors complete and check policies. */
export function policySchemaText(): string {
  const schema = z.toJSONSchema(PolicyFile, { io: 'input', reused: 'ref' });
  return `${JSON.stringify({ title: 'A policy of Hotcell', ...schema }, null, 2)}\n`;
}

if (import.meta.main) process.stdout.write(policySchemaText());
