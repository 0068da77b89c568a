import { z } from 'zod';
import { explainIssues, type PlacedIssue, type Vocabulary } from './explain-issues.ts';
import { fields } from './foreign-fields.ts';
import { ImageName } from './images-lock.ts';
import { Language } from './languages.ts';
import { forEachLimit, isBytes, type LimitName, limitNames, type LimitRow } from './limits.ts';
import { PolicyName } from './names.ts';
import { Approval, inputsRule, Policy, WorkerLabel } from './policy.ts';
import { PreloadName } from './preload.ts';
import { Retention } from './retention.ts';
import { SessionRule } from './session/session-terms.ts';
import { parseBytes } from './sizes.ts';

const size = z
  .union([z.number().int().min(0), z.string()], {
    error: 'must be a size like 512MiB or 1GiB, or a whole number of bytes',
  })
  .transform((value, ctx) => {
    const bytes = typeof value === 'number' ? value : parseBytes(value);
    if (bytes !== undefined) return bytes;
    ctx.addIssue({ code: 'custom', message: `"${value}" is not a size. Write it like 512MiB or 1GiB.` });
    return z.NEVER;
  });

function limitShape(value: typeof size | z.ZodNumber) {
  const rule = z.strictObject({
    min: value.optional(),
    default: value.optional(),
    max: value.optional(),
    /** Lower them to what this machine has: default and maximum to three quarters of its memory; to half of its cpus, and all. */
    fitMachine: z.boolean().optional(),
  });
  // One number alone is default and maximum. It is spelled out here, so that merging meets maps only.
  return z
    .union([value, rule], { error: 'must be one number, or { default, max, min }' })
    .transform((limit): z.output<typeof rule> => (typeof limit === 'object' ? limit : { default: limit, max: limit }));
}
const shapes = { size: limitShape(size), number: limitShape(z.number()) };

function limitInFile(name: LimitName, { help }: LimitRow) {
  return shapes[isBytes(name) ? 'size' : 'number']
    .refine((limit) => limit.fitMachine === undefined || name === 'cpus' || name === 'memoryBytes', {
      path: ['fitMachine'],
      message: 'Only cpus and memoryBytes can be lowered to what the machine has. Remove this line.',
    })
    .describe(help)
    .optional();
}

const limits = z.strictObject(forEachLimit(limitInFile));

const languageOf = z.union([z.string().min(1).max(32), Language], {
  error: 'must be the name of a language, or { name, aliases, command, ending }',
});

/**
 * A policy as a person writes it: policies/NAME.yaml. Every field is optional: what is missing is inherited from
 * `extends`, and in the end from a policy that allows nothing but printing.
 */
export const PolicyFile = z.strictObject({
  extends: PolicyName.optional(),
  description: z.string().max(1000).optional(),
  network: z.literal('none', { error: 'must be none: a cell has no network' }).optional(),
  runtime: z.enum(['runc', 'gvisor'], { error: 'must be runc or gvisor' }).optional(),
  images: z.array(ImageName).min(1, 'must name at least one image').max(64).optional(),
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
  outputs: Policy.shape.outputs.partial().optional(),
  logs: Policy.shape.logs.partial().optional(),
  env: Policy.shape.env.partial().optional(),
  labels: Policy.shape.labels.partial().optional(),
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
  sessions: z
    .union([z.literal('none'), SessionRule.omit({ memoryBytes: true }).extend({ memoryBytes: size }).partial()], {
      error: 'must be none, or { steps, idleSeconds, stepSeconds, lifetimeSeconds, memoryBytes }',
    })
    .optional(),
  preload: z.union([z.literal('none'), PreloadName], { error: 'must be none, or the name of a preload' }).optional(),
  retention: z
    .strictObject({
      mode: z
        .enum(['none', 'governance', 'compliance'], { error: 'must be none, governance or compliance' })
        .optional(),
      days: Retention.shape.days.optional(),
      after: z.enum(['keep', 'erase'], { error: 'must be keep or erase' }).optional(),
    })
    .optional(),
  worker: z.strictObject({ labels: z.array(WorkerLabel).max(3, 'must have at most 3 labels').optional() }).optional(),
});
export type PolicyFile = z.output<typeof PolicyFile>;

const notYet = 'Not supported yet: nothing would enforce it. Remove this line.';
const noRights = 'Every cell has its own unprivileged user and no capabilities. Remove this line.';
const noMounts = 'A cell sees its pinned inputs and its own scratch, nothing else. Remove this line.';
const noNetwork = 'A cell has no network. Remove this line.';

const vocabulary: Vocabulary = {
  schema: PolicyFile,
  // A word or a number alone is the short form.
  shapeOf: (value) => (typeof value === 'object' && value !== null ? 1 : 0),
  foreign: new Map([
    ...fields(notYet, 'tenants tenant concurrency gpus gpu quota budget schedules'),
    ...fields(noRights, 'user uid capabilities caps cap_add privileged security_opt devices'),
    ...fields(noMounts, 'binds volumes mounts extra_volumes'),
    ...fields(noNetwork, 'extra_hosts dns ports hosts'),
    ['seccomp', 'The profiles are part of Hotcell and are pinned with the policy. Remove this line.'],
    ['name', 'A policy is named by its file. Remove this line.'],
    ['timeout', 'Use limits.timeoutSeconds.'],
    ['memory', 'Use limits.memoryBytes.'],
    ['priorities', 'Write priority: { min, default, max }.'],
    ['image', 'Write a list: images: [NAME].'],
    ...limitNames.map((name): [string, string] => [name, `Put it under limits: limits.${name}.`]),
  ]),
};

/** Parses a policy file, or lists everything that is wrong with it and where. An empty file is a policy too. */
export function parsePolicyFile(name: string, value: unknown): { policyFile: PolicyFile } | { issues: PlacedIssue[] } {
  const parsed = PolicyFile.safeParse(value ?? {});
  const issues = parsed.success ? [] : explainIssues(parsed.error, value, vocabulary);
  // Only one shipped policy may use it already: until approvals exist, admission refuses all its runs.
  if (typeof value === 'object' && value !== null && 'approval' in value && name !== 'reviewed')
    issues.push({ at: ['approval'], path: 'approval', message: notYet });
  return parsed.success && issues.length === 0 ? { policyFile: parsed.data } : { issues };
}
