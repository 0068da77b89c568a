import { z } from 'zod';
import { Digest } from './digest.ts';
import { AskedLimits } from './limits.ts';
import { InputName, PolicyName, RunId, SnapshotName, TenantName } from './names.ts';
import { RetryableOutcome } from './outcomes.ts';
import { ceilings, showCeiling } from './request-ceilings.ts';
import { Retention } from './retention.ts';
import { AskedTerms, SessionTerms } from './session/session-terms.ts';
import { exactBytes } from './sizes.ts';
import { Callback } from './webhook.ts';
import { AskedWorkspace, PinnedWorkspace } from './workspace.ts';

/** The path of a block or bundled file inside /work: relative, plain, at most 16 folders deep. */
export const WorkPath = z
  .string()
  .min(1)
  .max(255)
  .refine(
    (path) => !path.startsWith('/') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    {
      message: 'must be a relative path without empty, . or .. parts',
    },
  )
  .refine((path) => path.split('/').length <= 16, { message: 'must be at most 16 folders deep' })
  // Such characters make two different names look the same.
  .refine((path) => !/[\p{Cc}\p{Cf}]/u.test(path), { message: 'must not contain control or formatting characters' });

const CodeBlock = z.strictObject({
  language: z.string().min(1).max(32),
  code: z.string().max(ceilings.code.most, `Code is limited to ${showCeiling(ceilings.code)}. Pass data as an input.`),
  file: WorkPath.optional(),
});
const ArgvBlock = z.strictObject({ argv: z.array(z.string().max(4096)).min(1).max(256) });
export const Block = z.union([CodeBlock, ArgvBlock], {
  error: 'must be { language, code, file? } or { argv: [...] }',
});
export type Block = z.infer<typeof Block>;

const tooLong = `A bundled file is limited to ${showCeiling(ceilings.file)}. Freeze it as a snapshot and use it as an input.`;
export const BundledFile = z.union(
  [
    z.strictObject({ path: WorkPath, text: z.string().max(ceilings.file.most, tooLong) }),
    z.strictObject({ path: WorkPath, base64: z.base64('must be base64').max(ceilings.file.most * 1.375, tooLong) }),
  ],
  { error: 'must be { path, text } or { path, base64 }' },
);
export type BundledFile = z.infer<typeof BundledFile>;

export const Labels = z
  .record(
    z.string().regex(/^[a-z0-9][a-z0-9._/-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9, ., _, / and -'),
    z.string().max(256),
  )
  .refine((labels) => Object.keys(labels).length <= ceilings.labels.most, {
    message: `must have at most ${ceilings.labels.most} labels`,
  });

/** Any JSON value; one schema, so that the description of the API can give it a name. */
export const Json = z.json();

export const Retry = z.strictObject({
  on: z.array(RetryableOutcome).min(1),
  max: z.number().int().min(1).max(5),
});

/** More than any policy allows: what is counted here is judged one by one later. */
const mostVariables = 1024;

function judgeParams(params: unknown, context: z.core.$RefinementCtx): void {
  const bytes = Buffer.byteLength(JSON.stringify(params));
  if (bytes <= ceilings.params.most) return;
  const message = `Params are limited to ${showCeiling(ceilings.params)} as JSON, and these take ${exactBytes(bytes)}. Pass larger data as a file or an input.`;
  context.addIssue({ code: 'custom', message });
}

/** The body of POST /v1/runs. It has no fields for user, runtime, mounts or network. */
export const RunRequest = z.strictObject({
  blocks: z.array(Block).min(1, 'must have at least one block').max(ceilings.blocks.most),
  files: z.array(BundledFile).max(ceilings.files.most).optional(),
  params: Json.superRefine(judgeParams).optional(),
  policy: PolicyName.optional(),
  image: z.string().min(1).max(256).optional(),
  inputs: z
    .record(InputName, z.string().min(1).max(1024))
    .refine((inputs) => Object.keys(inputs).length <= ceilings.inputs.most, {
      message: `must have at most ${ceilings.inputs.most} inputs`,
    })
    .optional(),
  limits: AskedLimits.optional(),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'must be letters, digits and _'), z.string().max(8192))
    .refine((env) => Object.keys(env).length <= mostVariables, {
      message: `must have at most ${mostVariables} variables. Pass more in params.`,
    })
    .optional(),
  labels: Labels.optional(),
  priority: z.number().int().min(0).max(9).optional(),
  publish: SnapshotName.optional(),
  ...AskedWorkspace,
  retry: Retry.optional(),
  notBefore: z.iso.datetime().optional(),
  callback: Callback.optional(),
});
export type RunRequest = z.infer<typeof RunRequest>;

/** The body of POST /v1/sessions: a run whose blocks come as steps, while its cell stays open. */
export const SessionRequest = RunRequest.omit({ blocks: true, retry: true, notBefore: true }).extend({
  session: AskedTerms.optional(),
});
export type SessionRequest = z.infer<typeof SessionRequest>;

/** What admission judges: of a session the blocks come later, and are judged one by one. */
export type AskedRun = RunRequest & { session?: AskedTerms | undefined };

export const Requester = z.strictObject({ key: z.string(), role: z.enum(['admin', 'submitter', 'reader']) });

/** A request resolved to digests of policy, image and inputs. The sha256 of its canonical JSON names it. */
export const Spec = z.strictObject({
  version: z.literal(1),
  run: RunId,
  tenant: TenantName,
  requester: Requester,
  acceptedAt: z.iso.datetime(),
  blocks: z.array(Block),
  files: z.array(BundledFile),
  params: Json,
  policy: z.strictObject({ name: PolicyName, digest: Digest }),
  image: z.strictObject({ ref: z.string(), digest: Digest }),
  runtime: z.enum(['runc', 'gvisor']),
  inputs: z.array(
    z.strictObject({
      name: InputName,
      snapshot: Digest,
      locations: Digest,
      /** The source as asked, so that a rerun can resolve it anew. */
      source: z.string().max(1024).optional(),
    }),
  ),
  limits: z.strictObject({ ...AskedLimits.shape }),
  env: z.record(z.string(), z.string()),
  labels: Labels,
  priority: z.number().int().min(0).max(9),
  publish: SnapshotName.optional(),
  workspace: PinnedWorkspace.optional(),
  workspacePublish: SnapshotName.optional(),
  retry: Retry.optional(),
  notBefore: z.iso.datetime().optional(),
  /** Where its requester is told of its end. What it computes doesn't depend on it. */
  callback: Callback.optional(),
  mode: z.literal('session').optional(),
  session: SessionTerms.optional(),
  /** The policy's, so that every process that writes something of this run locks it, whatever became of the policy. */
  retention: Retention.optional(),
  warnings: z.array(z.string()),
});
export type Spec = z.infer<typeof Spec>;
