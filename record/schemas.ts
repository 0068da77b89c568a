import { ApiKeyView } from '@hotcell/contract/apikey.ts';
import { Digest } from '@hotcell/contract/digest.ts';
import { RunId, TenantName } from '@hotcell/contract/names.ts';
import { Outcome } from '@hotcell/contract/outcomes.ts';
import { TenantQuota } from '@hotcell/contract/quota.ts';
import { snapshotFacts } from '@hotcell/contract/snapshot.ts';
import { z } from 'zod';

/** The objects that no client sees: each is parsed whenever it is read. */
const time = z.iso.datetime();
/** Where a statement stands in the record, and the sha256 of that object. */
const EvidencePlace = z.strictObject({ bundle: z.string(), sha256: Digest });
const ofRun = { version: z.literal(1), run: RunId };
const ofTenant = { ...ofRun, tenant: TenantName };

export const OpenMarker = z.strictObject({
  ...ofTenant,
  spec: Digest,
  queue: z.string(),
  priority: z.number().int(),
  /** What the policy gives it, for the tenant's quota. */
  cpus: z.number().positive().optional(),
  acceptedAt: time,
  notBefore: time.optional(),
});
export type OpenMarker = z.infer<typeof OpenMarker>;

/** An attempt begins with its claim, put if absent: the number of claims is the number of attempts. */
export const Claim = z.strictObject({
  ...ofRun,
  attempt: z.number().int().min(1),
  worker: z.string(),
  /** What the attempt puts into the record stands under a key with this in it. */
  nonce: z.uuid(),
  startedAt: time,
});
export type Claim = z.infer<typeof Claim>;

/** How an attempt ended that did not commit: put beside its claim's run in the record. `handed_back` uses up none. */
export const AttemptRecord = z.strictObject({
  ...ofRun,
  attempt: z.number().int().min(1),
  worker: z.string(),
  startedAt: time,
  finishedAt: time,
  error: z.strictObject({ code: z.string(), message: z.string() }),
  handedBack: z.boolean(),
  /** How the program ended, where its submitter asked for another try. */
  outcome: Outcome.optional(),
  /** The signed statement about the rest of this record; those of older versions have none. */
  evidence: EvidencePlace.optional(),
});
export type AttemptRecord = z.infer<typeof AttemptRecord>;

/** A batch that goes on: there is one leader's work to do. */
export const OpenBatchMark = z.strictObject({ version: z.literal(1), tenant: TenantName, batch: RunId, at: time });

/** A delivery of a webhook that is not over. */
export const SendingMark = z.strictObject({ version: z.literal(1), tenant: TenantName });

export const DoneMarker = z.strictObject({ ...ofTenant, result: Digest, finishedAt: time });
export type DoneMarker = z.infer<typeof DoneMarker>;
export const IdempotencyMark = z.strictObject({ ...ofTenant, body: Digest, at: time });
export type IdempotencyMark = z.infer<typeof IdempotencyMark>;

/** Who took it out of use, and when. It stays readable for what was accepted before. */
const Removed = z.strictObject({ by: z.string(), at: time });

export const SnapshotNameRecord = z.strictObject({
  version: z.literal(1),
  name: z.string(),
  history: z
    .array(
      z.strictObject({
        snapshot: Digest,
        at: time,
        by: z.string(),
        /** When the history took it in: later than all before it, also where its own time is earlier. */
        recorded: time.optional(),
      }),
    )
    .min(1),
  /** How many older moves the history has dropped: versions keep their numbers. */
  forgotten: z.number().int().min(0).optional(),
  /** When it took in the newest of those. */
  forgottenUntil: time.optional(),
  removed: Removed.optional(),
});
export type SnapshotNameRecord = z.infer<typeof SnapshotNameRecord>;

/** The key itself is stored nowhere. */
export const ApiKeyRecord = ApiKeyView.extend({ version: z.literal(1), sha256: Digest });
export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>;

/**
 * What is known of a snapshot beside its manifest: which map of locations a run that names it is given, and where it
 * came from. The only part of a snapshot that may be written again.
 */
export const SnapshotRecord = z.strictObject({
  version: z.literal(1),
  snapshot: Digest,
  ...snapshotFacts,
  removed: Removed.optional(),
});
export type SnapshotRecord = z.infer<typeof SnapshotRecord>;

/** That a tenant exists: who made it, and when. */
export const TenantRecord = z.strictObject({ version: z.literal(1), tenant: TenantName, by: z.string(), at: time });
export type TenantRecord = z.infer<typeof TenantRecord>;

/** What the operator set for a tenant. */
export const QuotaRecord = z.strictObject({
  version: z.literal(1),
  tenant: TenantName,
  quota: TenantQuota,
  by: z.string(),
  at: time,
});
export type QuotaRecord = z.infer<typeof QuotaRecord>;

export const FreezeLease = z.strictObject({ version: z.literal(1), at: z.iso.datetime() });
export type FreezeLease = z.infer<typeof FreezeLease>;

/** The collector is at work, at the latest until then. */
export const SweepMark = z.strictObject({ version: z.literal(1), at: z.iso.datetime(), until: z.iso.datetime() });
export type SweepMark = z.infer<typeof SweepMark>;

/** A workflow that goes on: there is one leader's work to do. */
export const OpenWorkflowMark = z.strictObject({
  version: z.literal(1),
  tenant: TenantName,
  workflow: RunId,
  at: z.iso.datetime(),
});

/** A run that succeeded, whose outputs stand for those of any other run that computes the same. */
export const ReusableRun = z.strictObject({ version: z.literal(1), run: RunId });

/** One of the bounded number of webhooks, open batches or open workflows that a tenant may have. */
const Slot = z.strictObject({
  id: z.string(),
  at: z.iso.datetime(),
  /** Its object or its open mark stands. From then on only its end frees the slot. */
  made: z.literal(true).optional(),
});
export type Slot = z.infer<typeof Slot>;
/** The record calls slots places. */
export const SlotList = z.strictObject({ version: z.literal(1), places: z.array(Slot) });
