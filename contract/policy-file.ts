import { z } from 'zod';
import { ImageName } from './images-lock.ts';
import { Language } from './languages.ts';
import { type LimitName, limitNames } from './limits.ts';
import { PolicyName } from './names.ts';
import { Approval, EnvPattern, inputsRule, isBytes, PublishPattern, WorkerLabel } from './policy.ts';
import { parseBytes } from './sizes.ts';

const size = z
  .union([z.number().int().min(0), z.string()], { error: 'a size is like 512MiB or 1GiB, or a whole number of bytes' })
  .transform((value, ctx) => {
    const bytes = typeof value === 'number' ? value : parseBytes(value);
    if (bytes !== undefined) return bytes;
    ctx.addIssue({ code: 'custom', message: `"${value}" is no size: write it like 512MiB or 1GiB` });
    return z.NEVER;
  });

function limit(name: LimitName) {
  const value = isBytes(name) ? size : z.number({ error: 'a number' });
  const rule = z
    .strictObject({
      min: value.optional(),
      default: value.optional(),
      max: value.optional(),
      /** Lower default and maximum to what this machine has: of cpus all, of memory three quarters. */
      fitMachine: z.boolean().optional(),
    })
    .refine((said) => said.fitMachine === undefined || name === 'cpus' || name === 'memoryBytes', {
      path: ['fitMachine'],
      message: 'only cpus and memoryBytes are lowered to what the machine has; remove the line',
    });
  // One number alone says default and maximum. Said out, so that merging meets maps with maps only.
  return z
    .union([value, rule], { error: 'a limit is one number, or { default, max, min }' })
    .transform((said): z.output<typeof rule> => (typeof said === 'object' ? said : { default: said, max: said }));
}

const limits = z.strictObject(
  Object.fromEntries(limitNames.map((name) => [name, limit(name).optional()])) as {
    [name in LimitName]: z.ZodOptional<ReturnType<typeof limit>>;
  },
);

const languageOf = z.union([z.string().min(1).max(32), Language], {
  error: 'a language is a name, or { name, aliases, command, ending }',
});

/**
 * A policy as a person writes it: policies/NAME.yaml. Everything may be left out; what is left out is inherited from
 * `extends`, and in the end from a policy that allows nothing but printing.
 */
export const PolicyFile = z.strictObject({
  extends: PolicyName.optional(),
  description: z.string().max(1000).optional(),
  network: z.literal('none', { error: 'only none can be said: a cell has no network' }).optional(),
  runtime: z.enum(['runc', 'gvisor'], { error: 'a runtime is runc or gvisor' }).optional(),
  images: z.array(ImageName).min(1, 'name at least one image').max(64).optional(),
  languages: z.array(languageOf).max(64).optional(),
  argv: z.boolean().optional(),
  limits: limits.optional(),
  inputs: z
    .strictObject({ count: inputsRule.count.optional(), bytes: size.optional(), files: inputsRule.files.optional() })
    .optional(),
  outputs: z.strictObject({ publish: z.array(PublishPattern).max(64).optional() }).optional(),
  logs: z.strictObject({ pastLimit: z.enum(['truncate', 'stop']).optional() }).optional(),
  env: z
    .strictObject({ job: z.array(EnvPattern).max(256).optional(), image: z.array(EnvPattern).max(256).optional() })
    .optional(),
  labels: z.strictObject({ required: z.array(z.string().min(1).max(63)).max(32).optional() }).optional(),
  priority: z
    .strictObject({
      min: z.number().int().optional(),
      default: z.number().int().optional(),
      max: z.number().int().optional(),
    })
    .optional(),
  retries: z.number().int().optional(),
  screening: z.boolean().optional(),
  approval: Approval.optional(),
  worker: z.strictObject({ labels: z.array(WorkerLabel).max(3, 'at most 3 labels').optional() }).optional(),
});
export type PolicyFile = z.output<typeof PolicyFile>;

const notYet = 'is not supported yet: nothing would enforce it, so it cannot be said; remove the line';
const never = (instead: string) => `cannot be said in any policy: ${instead}; remove the line`;

/** What people look for in a policy and do not find, with the reason. */
export const unsaid: Readonly<Record<string, string>> = {
  approval: 'is not supported yet (only the policy named reviewed may say it already); remove the line',
  ...Object.fromEntries(
    ['tenants', 'tenant', 'retention', 'concurrency', 'gpus', 'gpu', 'devices', 'quota', 'budget', 'schedules'].map(
      (name) => [name, notYet],
    ),
  ),
  name: 'is not written in the file: the file’s own name is the policy’s; remove the line',
  user: never('every cell leases a uid of its own'),
  capabilities: never('a job has none'),
  caps: never('a job has none'),
  cap_add: never('a job has none'),
  privileged: never('a job has no privileges'),
  binds: never('a cell sees its pinned inputs and its own scratch'),
  volumes: never('a cell sees its pinned inputs and its own scratch'),
  mounts: never('a cell sees its pinned inputs and its own scratch'),
  extra_volumes: never('a cell sees its pinned inputs and its own scratch'),
  extra_hosts: never('a cell has no network'),
  dns: never('a cell has no network'),
  ports: never('a cell has no network'),
  seccomp: never('the profiles are part of Hotcell and are pinned with the policy'),
  outputBytes: 'stands under limits: limits.outputBytes',
  timeout: 'is limits.timeoutSeconds',
  memory: 'is limits.memoryBytes',
  priorities: 'is written priority: { min, default, max }',
};
