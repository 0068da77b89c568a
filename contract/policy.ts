import { z } from 'zod';
import { type Digest, digestOf, Digest as DigestText } from './digest.ts';
import { ImageName } from './images-lock.ts';
import { Language } from './languages.ts';
import { isNeverVariable } from './job-variables.ts';
import { forEachLimit, type LimitName, type LimitRow, showLimit } from './limits.ts';
import { PolicyName } from './names.ts';
import { Preload } from './preload.ts';
import { ceilings } from './request-ceilings.ts';
import { PolicyRetention } from './retention.ts';
import { SessionRule } from './session/session-terms.ts';

/** A name, or the beginning of one with a star after it. */
const EnvPattern = z
  .string()
  .regex(
    /^(?:[A-Za-z_][A-Za-z0-9_]{0,126}\*?|\*)$/,
    'must be the name of a variable (letters, digits and _); a star may end it',
  )
  .refine((pattern) => !isNeverVariable(pattern.replace(/\*$/, '')), {
    message: 'No policy can let this variable through: it would change which code runs. Remove it.',
  });
const PublishPattern = z
  .string()
  .regex(
    /^(?:[a-z0-9][a-z0-9._-]{0,126}\*?|\*)$/,
    'must be the name of a snapshot (a-z, 0-9, ., _ and -); a star may end it',
  );
/** Without dashes, so that the name of a queue separates its labels. */
export const WorkerLabel = z.string().regex(/^[a-z0-9]{1,16}$/, 'must be 1 to 16 of a-z and 0-9');

export function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

const rangeMessage = 'the default must be between min and max';
const ordered = (rule: { min: number; default: number; max: number }) =>
  rule.min <= rule.default && rule.default <= rule.max;

function limitRule(name: LimitName, { unit, min, max }: LimitRow) {
  const number = (unit === 'cpus' ? z.number() : z.number().int())
    .min(min, `must be at least ${showLimit(name, min)}`)
    .max(max, `must be at most ${showLimit(name, max)}, the ceiling of every policy`);
  return z.strictObject({ min: number, default: number, max: number }).refine(ordered, { message: rangeMessage });
}
export type LimitRule = z.infer<ReturnType<typeof limitRule>>;

export const Approval = z.strictObject({
  count: z.number().int().min(1).max(10),
  by: z.array(z.enum(['admin', 'submitter'])).min(1),
  when: z.strictObject({ languages: z.array(z.string()).min(1) }).optional(),
});

const priority = z.number().int().min(0).max(9);
const upTo = (max: number) => z.number().int().min(0).max(max, `must be at most ${max}`);

export const inputsRule = {
  count: upTo(ceilings.inputs.most),
  bytes: upTo(16 * 1024 ** 4),
  files: upTo(10_000_000),
  /** Hash every staged file again for each run: slower, but it notices a host that changes its own disk. */
  verifyEachUse: z.boolean(),
};

/**
 * A policy, merged and resolved for one installation. The producer judges a run against it, and the worker again. It has
 * no fields for network access, user, mounts, capabilities and devices, so no request can ask for them.
 */
export const Policy = z.strictObject({
  version: z.literal(1),
  name: PolicyName,
  description: z.string().max(1000),
  network: z.literal('none'),
  runtime: z.enum(['runc', 'gvisor']),
  /** The first is used when a request names none. */
  images: z
    .array(z.strictObject({ name: ImageName, ref: z.string(), digest: DigestText, packages: DigestText.optional() }))
    .min(1)
    .max(64),
  languages: z.array(Language).max(64),
  argv: z.boolean(),
  limits: z.strictObject(forEachLimit(limitRule)),
  inputs: z.strictObject(inputsRule),
  outputs: z.strictObject({ publish: z.array(PublishPattern).max(64) }),
  logs: z.strictObject({ pastLimit: z.enum(['truncate', 'stop']) }),
  env: z.strictObject({ job: z.array(EnvPattern).max(256), image: z.array(EnvPattern).max(256) }),
  labels: z.strictObject({ required: z.array(z.string().min(1).max(63)).max(32) }),
  priority: z
    .strictObject({ min: priority, default: priority, max: priority })
    .refine(ordered, { message: rangeMessage }),
  retries: z.number().int().min(0).max(5),
  screening: z.boolean(),
  approval: Approval.optional(),
  /** Without it no session is allowed. */
  sessions: SessionRule.optional(),
  worker: z.strictObject({ labels: z.array(WorkerLabel).max(3) }),
  /** Without it nothing is locked. */
  retention: PolicyRetention.optional(),
  /** What waiting cells load for python. Without it they hold no interpreter. */
  preload: Preload.optional(),
  /** The runtime's profiles by name: a cell is made with these or not at all. */
  seccomp: z.record(z.string(), DigestText),
});
export type Policy = z.infer<typeof Policy>;

/** The name of the queue for runs under this policy. */
export function queueOf({ runtime, worker }: Pick<Policy, 'runtime' | 'worker'>): string {
  return [runtime, ...new Set(worker.labels.toSorted())].join('-');
}

export function policyDigest(policy: Policy): Digest {
  return digestOf(policy);
}

/** A policy's text that may not be used any more, and why: put once, in force from then on. */
export const PolicyRevocation = z.strictObject({
  version: z.literal(1),
  policy: DigestText,
  reason: z.string().min(1).max(1000),
  by: z.string(),
  at: z.iso.datetime(),
});
export type PolicyRevocation = z.infer<typeof PolicyRevocation>;
