import { type BatchCounts, BatchHead, mostItems } from '@hotcell/contract/batch.ts';
import type { KnownKey } from '@hotcell/contract/evidence/key-list.ts';
import type { BatchVerdict } from '@hotcell/contract/evidence/verdict.ts';
import { messageOf } from '@hotcell/contract/errors.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import { parseKept } from '@hotcell/contract/parse.ts';
import { recordKeys } from '../layout.ts';
import { ItemLines } from './item-lines.ts';
import type { RecordReader } from './record-reader.ts';
import { isStoreAway } from './store-away.ts';
import { verifyRound } from './verify-round.ts';
import { Look, type Verification } from './verification.ts';

export interface BatchAt {
  tenant: string;
  batch: RunId;
}

/** Where a batch of any tenant stands. */
export async function findBatch(reader: RecordReader, batch: RunId): Promise<BatchAt | undefined> {
  for await (const prefix of reader.folders('batches/')) {
    const tenant = prefix.split('/')[1] ?? '';
    const key = recordKeys.batchHead(tenant, batch);
    for await (const found of reader.list(key)) if (found.key === key) return { tenant, batch };
  }
  return undefined;
}

/** What the newest round that was verified says. */
export interface VerifiedRound {
  counts: BatchCounts;
  key: KnownKey['about'];
}

/**
 * A batch: each round's manifest is the one that a producer signed, says what follows from the batch, and names the very
 * results that stand in the record. The evidence of these runs is theirs: verifying them is another question.
 */
export async function verifyBatch(of: Verification, { tenant, batch }: BatchAt): Promise<BatchVerdict> {
  const look = new Look(of);
  const at = recordKeys.batchHead(tenant, batch);
  let newest: VerifiedRound | undefined;
  let head: BatchHead | undefined;
  try {
    head = await readHead(look, { tenant, batch });
    const lines = new ItemLines(head?.items ?? 0);
    for (const round of head?.rounds.keys() ?? [])
      newest = (head && (await verifyRound(look, { head, round, lines }))) ?? newest;
  } catch (error) {
    if (isStoreAway(error)) throw error;
    look.findings.add('MODIFIED', at, 'a batch that can be verified', messageOf(error).slice(0, 300));
  }
  const { findings, read } = look;
  const about = newest && { role: newest.key.role, name: newest.key.name, key: newest.key.fingerprint };
  return {
    ...{ batch, tenant, verdict: findings.verdict, findings: findings.close(at), read },
    ...(head?.items === undefined ? {} : { items: head.items }),
    ...(newest && { counts: newest.counts }),
    ...(about && { signedBy: about }),
  };
}

/** Nothing signs it by itself: each statement binds what was asked, which stands here. */
async function readHead(look: Look, { tenant, batch }: BatchAt): Promise<BatchHead | undefined> {
  const key = recordKeys.batchHead(tenant, batch);
  const bytes = await look.whole(key);
  if (!bytes) return undefined;
  let head: BatchHead;
  try {
    head = parseKept(BatchHead, bytes.toString('utf8'), key, 'record_damaged').value;
  } catch (error) {
    look.findings.add('MODIFIED', key, 'a batch', messageOf(error).slice(0, 300));
    return undefined;
  }
  if (head.tenant === tenant && head.batch === batch && (head.items ?? 0) <= mostItems) return head;
  look.findings.add('MODIFIED', key, `the batch ${tenant}/${batch}`, `${head.tenant}/${head.batch}`);
  return undefined;
}
