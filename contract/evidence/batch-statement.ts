import { z } from 'zod';
import { BatchCounts, type BatchHead } from '../batch.ts';
import { canonical, Digest, digestOf, hexOf } from '../digest.ts';
import { RunId, TenantName } from '../names.ts';
import { bundleOf } from './evidence-bundle.ts';
import { seal } from './dsse.ts';
import type { SigningKey } from './signing-key.ts';
import { statementType, statementV1 } from './statement.ts';

const batchPredicate = 'urn:hotcell:batch:v1';
const Hex = z.string().regex(/^[0-9a-f]{64}$/);

/** What is signed of a batch: that these were its items, and that this is what became of each. */
export const BatchStatement = z.strictObject({
  _type: z.literal(statementV1),
  subject: z.tuple([z.strictObject({ name: z.literal('manifest.ndjson'), digest: z.strictObject({ sha256: Hex }) })]),
  predicateType: z.literal(batchPredicate),
  predicate: z.strictObject({
    installation: z.string(),
    tenant: TenantName,
    batch: RunId,
    round: z.number().int().min(0),
    items: z.number().int().min(0),
    counts: BatchCounts,
    /** The digest of what all items share: code, params, rules and what the batch is over. */
    asked: Digest,
    policy: Digest,
    image: Digest,
    over: Digest.optional(),
    startedOn: z.iso.datetime(),
    finishedOn: z.iso.datetime(),
    signer: z.strictObject({ role: z.string(), name: z.string(), key: Digest }),
  }),
});
export type BatchStatement = z.infer<typeof BatchStatement>;

/** What its caller asked, apart from what became of it. */
function askedOf({ over, pinned, rules, request }: BatchHead): Digest {
  return digestOf({ over, ...(pinned && { pinned }), rules, request });
}

interface Ended {
  installation: string;
  head: BatchHead;
  round: number;
  counts: BatchCounts;
  manifest: Digest;
  at: string;
}

export function batchStatement(
  { installation, head, round, counts, manifest, at }: Ended,
  { role, name, key }: { role: string; name: string; key: Digest },
): BatchStatement {
  const { tenant, batch, policy, image, pinned, items = 0, rounds } = head;
  return {
    _type: statementV1,
    subject: [{ name: 'manifest.ndjson', digest: { sha256: hexOf(manifest) } }],
    predicateType: batchPredicate,
    predicate: {
      ...{ installation, tenant, batch, round, items, counts, asked: askedOf(head) },
      ...{ policy: policy.digest, image: image.digest, ...(pinned && { over: pinned.snapshot }) },
      ...{ startedOn: rounds[round]?.at ?? at, finishedOn: at, signer: { role, name, key } },
    },
  };
}

export function signBatch(key: SigningKey, statement: BatchStatement) {
  return bundleOf(seal(key, statementType, Buffer.from(canonical(statement))), key.fingerprint);
}
