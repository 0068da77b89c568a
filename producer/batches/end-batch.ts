import { firstOfChunk } from '@hotcell/contract/batch-items.ts';
import type { BatchHead, BatchRound, ItemEnd } from '@hotcell/contract/batch.ts';
import { batchStatement, signBatch } from '@hotcell/contract/evidence/batch-statement.ts';
import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import { crashPoint } from '@hotcell/outside/process/crash.ts';
import { putBatch, putBatchEvidence, putEnds, unmarkBatch } from '@hotcell/record/batch-records.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { noteEventIfWanted } from '@hotcell/record/webhook-records.ts';
import type { Producer } from '../producer.ts';
import { type BatchManifest, putManifest } from './batch-manifest.ts';
import { type KnownBatch, noCounts, placeOf, roundOf } from './known-batch.ts';
import { publishBatch } from './publish-batch.ts';

type Ended = NonNullable<BatchRound['ended']>;

/**
 * All has ended: the ends of chunks that were left half way, the manifest, its signature, its name, and then the round
 * that names them. The mark comes last: until then a leader goes on here, and doing it twice is doing it once.
 */
export async function endBatch(producer: Producer, known: KnownBatch, keep: () => Promise<void>): Promise<void> {
  await endChunks(producer, known);
  const manifest = await putManifest(producer.store, known, keep);
  crashPoint('batch.manifest');
  const at = new Date().toISOString();
  const evidence = await putSigned(producer, known, manifest, at);
  crashPoint('batch.evidence');
  const name = known.head.value.rules.publish;
  const published = name === undefined ? undefined : await publishBatch(producer, known, { manifest, name, at, keep });
  crashPoint('batch.published');
  const { counts, ...written } = manifest;
  await endRound(producer, known, { at, counts, manifest: written, evidence, ...(published && { published }) });
}

/** There is nothing to run over. */
export async function failBatch(producer: Producer, known: Pick<KnownBatch, 'head' | 'round'>, problem: string) {
  await endRound(producer, known, { at: new Date().toISOString(), counts: noCounts, problem });
}

async function endRound({ store }: Producer, known: Pick<KnownBatch, 'head' | 'round'>, ended: Ended): Promise<void> {
  const { value: head } = known.head;
  const rounds = head.rounds.map((round, at) => (at === known.round ? { ...round, ended } : round));
  known.head = await putBatch(store, { ...head, rounds }, known.head);
  crashPoint('batch.ended');
  await tellEnd(store, known.head.value, known.round);
}

/** The event comes before the mark goes: a leader that dies in between is followed by one that notes it again. */
export async function tellEnd(store: Buckets, head: BatchHead, round: number): Promise<void> {
  const { tenant, batch } = head;
  const { ended } = roundOf(head, round);
  if (ended) {
    const data = { batch, round, ...ended.counts };
    const event = { version: 1, tenant, id: `batch-${batch}-${round}`, type: 'batch.finished', at: ended.at } as const;
    await noteEventIfWanted(store, { ...event, data }, head.callback);
  }
  await unmarkBatch(store, { ...head, round });
}

/** Of items that were not begun, because the batch was cancelled or stopped. */
async function endChunks({ store }: Producer, known: KnownBatch): Promise<void> {
  const reason = roundOf(known.head.value, known.round).cancelled
    ? 'The batch was cancelled before it was begun.'
    : 'An item failed before it was begun.';
  const none = { run: null, outcome: null, exitCode: null, result: null, outputs: null };
  for (const [number, { ends, before }] of known.chunks) {
    const first = firstOfChunk(number);
    const skipped = (at: number): ItemEnd => ({ item: first + at, round: known.round, ...none, reason });
    const whole = ends.map((end, at) => end ?? before?.[at] ?? skipped(at));
    await putEnds(store, placeOf(known, number), whole);
  }
  known.chunks.clear();
}

async function putSigned(
  { store, signer, installation }: Producer,
  { head, round }: KnownBatch,
  { counts, sha256: manifest }: BatchManifest,
  at: string,
): Promise<NonNullable<Ended['evidence']>> {
  const statement = batchStatement({ installation, head: head.value, round, counts, manifest, at }, signer.facts);
  const { value } = signBatch(signer.key, statement);
  const { key, stands } = await putBatchEvidence(store, { ...head.value, round }, value);
  return { bundle: key, sha256: sha256(canonical(stands)) };
}
