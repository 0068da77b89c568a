import type { BatchHead } from '@hotcell/contract/batch.ts';
import type { Digest } from '@hotcell/contract/digest.ts';
import { BatchStatement, batchStatement } from '@hotcell/contract/evidence/batch-statement.ts';
import { differencesOf } from '@hotcell/contract/evidence/json-differences.ts';
import { recordKeys } from '../layout.ts';
import type { ItemLines } from './item-lines.ts';
import { ManifestReading } from './manifest-reading.ts';
import { judgeKey, type ReadSigned, readSealed } from './read-signed.ts';
import type { Look } from './verification.ts';
import type { VerifiedRound } from './verify-batch.ts';
import { verifyItems } from './verify-items.ts';

interface Round {
  head: BatchHead;
  round: number;
  /** Of the rounds before, for the lines that this one carries on. */
  lines: ItemLines;
}

/** One round: the producer's signature, the manifest that it names, and the results that the manifest names. */
export async function verifyRound(look: Look, of: Round): Promise<VerifiedRound | undefined> {
  const { head, round } = of;
  const { tenant, batch } = head;
  const at = recordKeys.batchEvidence(tenant, batch, round);
  const named = readRoundEnd(look, of);
  const signed = named && (await readSealed(look, BatchStatement, at, named));
  if (!signed) return undefined;
  judgeSigner(look, at, signed);
  const manifest = await readManifest(look, of, signed.statement);
  if (!manifest) return undefined;
  const { counts, ran, problems, digest } = manifest;
  const key = recordKeys.batchManifest(tenant, batch, round);
  for (const { item, expected, found } of problems)
    look.findings.add('INCONSISTENT', `${key}: item ${item}`, expected, found);
  const { signer, finishedOn, installation } = signed.statement.predicate;
  const ended = { installation: look.of.installation ?? installation, head, round, counts, manifest: digest };
  const made = batchStatement({ ...ended, at: finishedOn }, signer);
  for (const { path, expected, found } of differencesOf(made, signed.statement))
    look.findings.add('INCONSISTENT', `${at}: ${path}`, `${expected}, which follows from the record`, found);
  await verifyItems(look, head, ran, finishedOn);
  return { counts, key: signed.key.about };
}

/** The head says where the round's evidence is, and its digest. What is true of the round, the evidence says. */
function readRoundEnd({ findings }: Look, { head, round }: Round): Digest | undefined {
  const { tenant, batch, rounds } = head;
  const object = `${recordKeys.batchHead(tenant, batch)}: rounds[${round}]`;
  const ended = rounds[round]?.ended;
  if (!ended) {
    const isLast = round === rounds.length - 1;
    findings.add(isLast ? 'PENDING' : 'INCONSISTENT', object, 'an end of the round', 'none: it goes on');
    return undefined;
  }
  const { evidence, manifest, problem } = ended;
  if (!evidence || !manifest) {
    findings.add('UNSIGNED', object, 'a signed manifest', problem ?? 'none');
    return undefined;
  }
  const expected = recordKeys.batchEvidence(tenant, batch, round);
  if (evidence.bundle !== expected) findings.add('MODIFIED', object, expected, evidence.bundle.slice(0, 300));
  return evidence.sha256;
}

/** A producer ends batches, and nothing else does. */
function judgeSigner(look: Look, at: string, { key, statement }: ReadSigned<BatchStatement>): void {
  const { finishedOn, signer } = statement.predicate;
  judgeKey(look, at, key, { finishedOn, signer });
  if (key.about.role !== 'producer')
    look.findings.add('INCONSISTENT', at, 'the signature of a producer', `${key.about.role} ${key.about.name}`);
}

async function readManifest(
  look: Look,
  { head, round, lines }: Round,
  { subject: [{ digest: named }] }: BatchStatement,
): Promise<(ManifestReading & { digest: Digest }) | undefined> {
  const key = recordKeys.batchManifest(head.tenant, head.batch, round);
  const reading = new ManifestReading(head, round, lines);
  const expected: Digest = `sha256:${named.sha256}`;
  if (!(await look.of.reader.read(key, (chunk) => reading.take(chunk)))) {
    look.findings.add('MISSING', key, expected, 'nothing');
    return undefined;
  }
  look.read.objects += 1;
  look.read.bytes += reading.bytes;
  const digest = reading.finish();
  if (digest === expected) return Object.assign(reading, { digest });
  look.findings.add('MODIFIED', key, expected, digest);
  return undefined;
}
