import { z } from 'zod';
import { Role } from './apikey.ts';
import { Digest } from './digest.ts';
import { InputName, PolicyName, RunId, SnapshotName, TenantName } from './names.ts';
import { Outcome } from './outcomes.ts';
import { PartitionKey } from './partitions.ts';
import { Json, RunRequest } from './spec.ts';
import { Callback } from './webhook.ts';

const time = z.iso.datetime();
const count = z.number().int().min(0);

/** So many items has a batch at most. */
export const mostItems = 100_000;
/** Of a list that comes with the request itself; a longer one is a file of a snapshot. */
const mostListed = 1_000;
/** One item, as JSON: larger data is a file or an input. */
export const mostItemBytes = 16 * 1024;
/** A file that is read line by line. */
export const mostListBytes = 256 * 1024 * 1024;
/** So many batches of a tenant go on at once. */
export const mostOpenBatches = 100;

const source = z.string().min(1).max(1024).describe('a snapshot by its id, its name or RUN:outputs');
const path = z.string().min(1).max(4096).optional().describe('which file of it; may be left out if it has only one');
const as = InputName.default('data').describe('the name of the input under which each run finds the snapshot');
/** What is in a value of JSON that runs are given as params. */
const JsonObject = z.record(z.string(), Json);

/** What there is an item for. */
const overForms = {
  items: z
    .strictObject({ items: z.array(JsonObject).min(1).max(mostListed) })
    .describe('one item for each: its params'),
  lines: z.strictObject({ lines: source, path }).describe('one item for each line, a JSON object: its params'),
  csv: z
    .strictObject({ csv: source, path })
    .describe('one item for each row below the first, which names the columns: its params'),
  files: z
    .strictObject({ files: source, as })
    .describe('one item for each file of a snapshot, which runs find mounted'),
  partitions: z
    .strictObject({
      partitions: source,
      by: PartitionKey,
      as,
    })
    .describe('one item for each value of a key: of all files below a folder KEY=VALUE'),
};
export const BatchOver = z.union(
  [overForms.items, overForms.lines, overForms.csv, overForms.files, overForms.partitions],
  { error: 'must be { items }, { lines, path? }, { csv, path? }, { files, as? } or { partitions, by, as? }' },
);
export type BatchOver = z.infer<typeof BatchOver>;

export const BatchRules = z.strictObject({
  parallel: z.number().int().min(1).max(1_000).describe('how many of its runs may wait or go on at once'),
  onFailure: z
    .enum(['continue', 'stop', 'cancel'])
    .describe('after the first item that did not succeed: go on, begin no more, or cancel those that go on, too'),
  publish: SnapshotName.optional().describe('name the results as a snapshot: the manifest, and the outputs by item'),
});
export type BatchRules = z.infer<typeof BatchRules>;

/** How many items ended how. */
export const BatchCounts = z.strictObject({
  succeeded: count,
  failed: count.describe('ended in another way, cancelled ones apart'),
  cancelled: count,
  skipped: count.describe('never begun'),
});
export type BatchCounts = z.infer<typeof BatchCounts>;

const Asked = z.strictObject({ at: time, by: z.string() });

/** One pass over the items: the first over all, each later one over those that had not succeeded. */
const Round = z.strictObject({
  ...Asked.shape,
  /** Its runs have the rights of this key. */
  key: z.string(),
  /** How many items had succeeded before. */
  carried: count,
  cancelled: z.strictObject({ ...Asked.shape, reason: z.string() }).optional(),
  ended: z
    .strictObject({
      at: time,
      counts: BatchCounts,
      /** Why it has no items. */
      problem: z.string().optional(),
      manifest: z.strictObject({ key: z.string(), sha256: Digest, bytes: count }).optional(),
      evidence: z.strictObject({ bundle: z.string(), sha256: Digest }).optional(),
      published: z.strictObject({ snapshot: Digest.optional(), problem: z.string().optional() }).optional(),
    })
    .optional(),
});
export type BatchRound = z.infer<typeof Round>;

export const mostRounds = 100;

/** Everything about a batch but its items; replaced over exactly the version that was read. */
export const BatchHead = z.strictObject({
  version: z.literal(1),
  tenant: TenantName,
  batch: RunId,
  name: z.string().max(256).optional(),
  createdAt: time,
  author: z.strictObject({ key: z.string(), role: Role }),
  over: BatchOver,
  /** What its source was when the batch was made. */
  pinned: z.strictObject({ snapshot: Digest, locations: Digest }).optional(),
  rules: BatchRules,
  /** Told of the end of each round. */
  callback: Callback.optional(),
  request: RunRequest,
  policy: z.strictObject({ name: PolicyName, digest: Digest }),
  image: z.strictObject({ ref: z.string(), digest: Digest }),
  /** Known once all of them are written down. */
  items: count.max(mostItems).optional(),
  rounds: z.array(Round).min(1).max(mostRounds),
});
export type BatchHead = z.infer<typeof BatchHead>;

/** What one item gives its run. */
export const BatchItem = z.strictObject({
  /** Params of its own, beside those of all. */
  params: JsonObject.optional(),
  /** Told in `params.batch`. */
  told: JsonObject.optional(),
});
export type BatchItem = z.infer<typeof BatchItem>;

/** So many items are written down, begun and settled together. */
export const chunkItems = 100;
export const BatchChunk = z.strictObject({ version: z.literal(1), items: z.array(BatchItem).min(1).max(chunkItems) });
export type BatchChunk = z.infer<typeof BatchChunk>;

/** What became of an item: a line of the manifest. */
export const ItemEnd = z.strictObject({
  item: count,
  round: count,
  /** Null: it was never begun. */
  run: RunId.nullable(),
  outcome: Outcome.nullable(),
  exitCode: z.number().int().nullable(),
  reason: z.string(),
  /** The sha256 of its run's result, as it stands in the record. */
  result: Digest.nullable(),
  /** The snapshot of its outputs. */
  outputs: Digest.nullable(),
});
export type ItemEnd = z.infer<typeof ItemEnd>;
export const BatchEnds = z.strictObject({ version: z.literal(1), ends: z.array(ItemEnd).min(1).max(chunkItems) });
export type BatchEnds = z.infer<typeof BatchEnds>;

/** How far its leader is: enough for its successor to go on, and for a view. */
export const BatchProgress = z.strictObject({
  version: z.literal(1),
  round: count,
  /** No item from here on was tried. */
  begun: count,
  open: count,
  counts: BatchCounts,
  at: time,
  /** How many had ended, and when: for the rate. The oldest first. */
  samples: z.array(z.strictObject({ at: time, ended: count })).max(20),
  /** Why no more are begun at the moment. */
  problem: z.strictObject({ code: z.string(), message: z.string() }).optional(),
});
export type BatchProgress = z.infer<typeof BatchProgress>;
