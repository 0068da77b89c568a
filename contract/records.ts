import { z } from 'zod';
import { Digest } from './digest.ts';
import { RunId, TenantName } from './names.ts';
import { Outcome } from './outcomes.ts';

/** The small objects of the work bucket, and the API keys: each parsed whenever it is read. */
const time = z.iso.datetime();

export const OpenMarker = z.strictObject({
  version: z.literal(1),
  run: RunId,
  tenant: TenantName,
  spec: Digest,
  queue: z.string(),
  priority: z.number().int(),
  acceptedAt: time,
  notBefore: time.optional(),
});
export type OpenMarker = z.infer<typeof OpenMarker>;

/** An attempt begins with its claim, put if absent: the number of claims is the number of attempts. */
export const Claim = z.strictObject({
  version: z.literal(1),
  run: RunId,
  attempt: z.number().int().min(1),
  worker: z.string(),
  nonce: z.string(),
  startedAt: time,
});
export type Claim = z.infer<typeof Claim>;

/** How an attempt ended that did not commit: put beside its claim's run in the record. `handed_back` uses up none. */
export const AttemptRecord = z.strictObject({
  version: z.literal(1),
  run: RunId,
  attempt: z.number().int().min(1),
  worker: z.string(),
  startedAt: time,
  finishedAt: time,
  error: z.strictObject({ code: z.string(), message: z.string() }),
  handedBack: z.boolean(),
  /** How the program ended, where its submitter asked for another try. */
  outcome: Outcome.optional(),
});
export type AttemptRecord = z.infer<typeof AttemptRecord>;

export const DoneMarker = z.strictObject({
  version: z.literal(1),
  run: RunId,
  tenant: TenantName,
  result: Digest,
  finishedAt: time,
});
export type DoneMarker = z.infer<typeof DoneMarker>;
export const CancelMark = z.strictObject({
  version: z.literal(1),
  run: RunId,
  tenant: TenantName,
  by: z.string(),
  reason: z.string(),
  at: time,
});
export type CancelMark = z.infer<typeof CancelMark>;
export const IdempotencyMark = z.strictObject({
  version: z.literal(1),
  run: RunId,
  tenant: TenantName,
  body: Digest,
  at: time,
});
export type IdempotencyMark = z.infer<typeof IdempotencyMark>;

export const Role = z.enum(['admin', 'submitter', 'reader']);
export type Role = z.infer<typeof Role>;

/** `id` is the first 16 hex digits of the key's sha256: the key itself is kept nowhere. */
export const ApiKeyRecord = z.strictObject({
  version: z.literal(1),
  id: z.string().regex(/^[0-9a-f]{16}$/),
  sha256: Digest,
  tenant: TenantName,
  role: Role,
  label: z.string().max(128),
  createdAt: time,
  expiresAt: time.optional(),
  revokedAt: time.optional(),
});
export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>;

export const SnapshotNameRecord = z.strictObject({
  version: z.literal(1),
  name: z.string(),
  history: z.array(z.strictObject({ snapshot: Digest, at: time, by: z.string() })).min(1),
});

/** A policy's text that may not be used any more, and why: put once, in force from then on. */
export const PolicyRevocation = z.strictObject({
  version: z.literal(1),
  policy: Digest,
  reason: z.string().min(1).max(1000),
  by: z.string(),
  at: time,
});
export type PolicyRevocation = z.infer<typeof PolicyRevocation>;
