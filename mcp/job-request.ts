import { routes } from '@hotcell/contract/api/routes.ts';
import { forEachLimit, limitTable } from '@hotcell/contract/limits.ts';
import type { RunRequest } from '@hotcell/contract/spec.ts';
import { z } from 'zod';
import type { Api } from './api.ts';
import { submitOnce } from './submit-once.ts';

/** The limits that a model has use for. The policy says how far each goes. */
const asked = ['timeoutSeconds', 'memoryBytes', 'cpus', 'outputBytes', 'logBytes'] as const;
const limitSchemas = forEachLimit((name) => z.number().positive().optional().describe(limitTable[name].help));

/** What a job can be given beside its code. Admission judges all of it; here is only its form. */
export const jobFields = {
  policy: z.string().optional().describe('a name that list_policies shows; left out: the usual one'),
  image: z.string().optional().describe('an image that the policy allows'),
  inputs: z
    .record(z.string(), z.string())
    .optional()
    .describe(
      'data to read at /inputs/NAME: for each NAME a snapshot (its id or name), or RUN:outputs for what an earlier run left',
    ),
  files: z
    .array(z.strictObject({ path: z.string(), text: z.string() }))
    .optional()
    .describe('small files to find in /work'),
  params: z.record(z.string(), z.unknown()).optional().describe('any JSON, to read at /inputs/params.json'),
  limits: z.strictObject(Object.fromEntries(asked.map((name) => [name, limitSchemas[name]]))).optional(),
  labels: z.record(z.string(), z.string()).optional(),
  idempotencyKey: z
    .string()
    .optional()
    .describe('the same key and the same request again give the same run instead of a second one'),
};
const JobFields = z.strictObject(jobFields);

interface Block {
  language: string;
  code: string;
}

interface Accepted {
  run: string;
  warnings: readonly string[];
}

/** Not taken back with the call: between asking and the answer, only the API knows whether there is a run. */
export async function submitJob(
  api: Api,
  blocks: readonly Block[],
  { idempotencyKey, ...fields }: z.output<typeof JobFields>,
): Promise<Accepted> {
  // Parsed by admission, whose reasons name each field.
  const json = { blocks: [...blocks], ...fields } as RunRequest;
  const { run, warnings = [] } = await submitOnce({ idempotencyKey, policy: fields.policy }, (headers) =>
    api.call(routes.submitRun, { json, headers }),
  );
  return { run, warnings };
}
