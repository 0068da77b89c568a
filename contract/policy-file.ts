import { z } from 'zod';
import { explain, type PlacedIssue, type Vocabulary } from './explain-issues.ts';
import { ImageName } from './images-lock.ts';
import { Language } from './languages.ts';
import { forEachLimit, isBytes, type LimitName, limitNames, type LimitRow } from './limits.ts';
import { PolicyName } from './names.ts';
import { Approval, EnvPattern, inputsRule, PublishPattern, WorkerLabel } from './policy.ts';
import { parseBytes } from './sizes.ts';

const size = z
  .union([z.number().int().min(0), z.string()], { error: 'a size is like 512MiB or 1GiB, or a whole number of bytes' })
  .transform((value, ctx) => {
    const bytes = typeof value === 'number' ? value : parseBytes(value);
    if (bytes !== undefined) return bytes;
    ctx.addIssue({ code: 'custom', message: `"${value}" is no size: write it like 512MiB or 1GiB` });
    return z.NEVER;
  });

function limitShape(value: typeof size | z.ZodNumber) {
  const rule = z.strictObject({
    min: value.optional(),
    default: value.optional(),
    max: value.optional(),
    /** Lower default and maximum to what this machine has: all its cpus, three quarters of its memory. */
    fitMachine: z.boolean().optional(),
  });
  // One number alone is default and maximum. It is spelled out here, so that merging meets maps only.
  return z
    .union([value, rule], { error: 'a limit is one number, or { default, max, min }' })
    .transform((limit): z.output<typeof rule> => (typeof limit === 'object' ? limit : { default: limit, max: limit }));
}
const shapes = { size: limitShape(size), number: limitShape(z.number()) };

function limitInFile(name: LimitName, { help }: LimitRow) {
  return shapes[isBytes(name) ? 'size' : 'number']
    .refine((limit) => limit.fitMachine === undefined || name === 'cpus' || name === 'memoryBytes', {
      path: ['fitMachine'],
      message: 'only cpus and memoryBytes can be lowered to what the machine has; remove the line',
    })
    .describe(help)
    .optional();
}

const limits = z.strictObject(forEachLimit(limitInFile));

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
    .strictObject({
      count: inputsRule.count.optional(),
      bytes: size.optional(),
      files: inputsRule.files.optional(),
      verifyEachUse: inputsRule.verifyEachUse.optional(),
    })
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
const noRights = 'cannot be said in any policy: every cell leases a user of its own and has no rights; remove the line';
const noMounts =
  'cannot be said in any policy: a cell sees its pinned inputs and its own scratch, nothing else; remove the line';
const noNetwork = 'cannot be said in any policy: a cell has no network; remove the line';
const said = (text: string, ...names: string[]) => names.map((name): [string, string] => [name, text]);

const vocabulary: Vocabulary = {
  // A word or a number alone is the short way to say it.
  shapeOf: (value) => (typeof value === 'object' && value !== null ? 1 : 0),
  elsewhere: new Map([
    ...said(notYet, 'tenants', 'tenant', 'retention', 'concurrency', 'gpus', 'gpu', 'quota', 'budget', 'schedules'),
    ...said(noRights, 'user', 'uid', 'capabilities', 'caps', 'cap_add', 'privileged', 'security_opt', 'devices'),
    ...said(noMounts, 'binds', 'volumes', 'mounts', 'extra_volumes'),
    ...said(noNetwork, 'extra_hosts', 'dns', 'ports', 'hosts'),
    ['seccomp', 'cannot be said: the profiles are part of Hotcell and are pinned with the policy; remove the line'],
    ['name', 'is not written in the file: the file’s own name is the policy’s; remove the line'],
    ['timeout', 'is limits.timeoutSeconds here'],
    ['memory', 'is limits.memoryBytes here'],
    ['priorities', 'is written priority: { min, default, max } here'],
    ['image', 'is a list here: images: [NAME]'],
    ...limitNames.map((name): [string, string] => [name, `stands under limits: limits.${name}`]),
  ]),
  fieldsAt: ([first, second]) => {
    if (first === undefined) return Object.keys(PolicyFile.shape);
    if (first === 'limits') return second === undefined ? limitNames : ['default', 'max', 'min', 'fitMachine'];
    if (first === 'languages') return Object.keys(Language.shape);
    if (first === 'approval') return second === 'when' ? ['languages'] : Object.keys(Approval.shape);
    return partFields[String(first)] ?? [];
  },
};

const partFields: Readonly<Record<string, readonly string[]>> = {
  inputs: Object.keys(inputsRule),
  outputs: ['publish'],
  logs: ['pastLimit'],
  env: ['job', 'image'],
  labels: ['required'],
  priority: ['min', 'default', 'max'],
  worker: ['labels'],
};

/** What a file says, or everything that is wrong with it and where. An empty file says nothing, and that is allowed. */
export function parsePolicyFile(name: string, value: unknown): { policyFile: PolicyFile } | { issues: PlacedIssue[] } {
  const parsed = PolicyFile.safeParse(value ?? {});
  const issues = parsed.success ? [] : explain(parsed.error, value, vocabulary);
  // One shipped policy may say it before anything can take an approval: until then none of its runs is admitted.
  if (typeof value === 'object' && value !== null && 'approval' in value && name !== 'reviewed')
    issues.push({ at: ['approval'], path: 'approval', message: notYet });
  return parsed.success && issues.length === 0 ? { policyFile: parsed.data } : { issues };
}
