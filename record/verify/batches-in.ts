import type { BatchVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { RunId, timeOf } from '@hotcell/contract/names.ts';
import { recordKeys } from '../layout.ts';
import type { RecordReader } from './record-reader.ts';
import type { Verification } from './verification.ts';
import { type BatchAt, verifyBatch } from './verify-batch.ts';

const idLetters = 36;

/** Every batch that a record has: those with a head, and those of which only what was signed is left. */
export async function* batchesIn(
  reader: RecordReader,
  { since }: { since?: Date | undefined } = {},
): AsyncGenerator<BatchAt> {
  for await (const prefix of reader.folders('batches/')) {
    const tenant = prefix.split('/')[1] ?? '';
    const seen = new Set<string>();
    for await (const id of idsIn(reader, tenant)) {
      const batch = RunId.safeParse(id);
      if (!batch.success || seen.has(batch.data)) continue;
      seen.add(batch.data);
      if (!since || timeOf(batch.data) >= since) yield { tenant, batch: batch.data };
    }
  }
}

async function* idsIn(reader: RecordReader, tenant: string): AsyncGenerator<string | undefined> {
  for await (const { key } of reader.list(recordKeys.batchHeads(tenant)))
    yield key.slice(0, -'.json'.length).slice(-idLetters);
  for await (const folder of reader.folders(recordKeys.batchEvidences(tenant))) yield folder.split('/').at(-2);
}

/**
 * One after the other: each reads the results of all its items. A batch that had nothing to run over has nothing that
 * could be signed, and is left out.
 */
export async function verifyBatches(
  of: Verification,
  batches: AsyncIterable<BatchAt>,
  tell: (verdict: BatchVerdict) => void,
): Promise<void> {
  for await (const at of batches) {
    const verdict = await verifyBatch(of, at);
    const isEmpty = verdict.verdict === 'UNSIGNED' && verdict.items === undefined;
    if (!isEmpty || (await hasEnded(of.reader, at))) tell(verdict);
  }
}

/** Something was made of its end, whatever its head says. */
async function hasEnded(reader: RecordReader, { tenant, batch }: BatchAt): Promise<boolean> {
  for (const key of [recordKeys.batchManifest(tenant, batch, 0), recordKeys.batchEvidence(tenant, batch, 0)])
    for await (const found of reader.list(key)) if (found.key === key) return true;
  return false;
}
