import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fateOf, itemRunId } from '@hotcell/contract/batch-items.ts';
import type { BatchCounts, BatchHead, ItemEnd } from '@hotcell/contract/batch.ts';
import { canonical, sha256 } from '@hotcell/contract/digest.ts';
import { batchStatement, signBatch } from '@hotcell/contract/evidence/batch-statement.ts';
import { newRunId, timeOf } from '@hotcell/contract/names.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { batchesIn, verifyBatches } from '@hotcell/record/verify/batches-in.ts';
import { findBatch, verifyBatch } from '@hotcell/record/verify/verify-batch.ts';
import { listKeys, Memory, putSigned, signerOf, verificationOf } from '../../../support/signed-record.ts';

const tenant = 't';
const [producer, worker, stranger] = [
  signerOf('producer', 'producer'),
  signerOf('worker', 'one'),
  signerOf('producer', 'producer'),
];
const items = 5;

/** A batch of two rounds as a producer leaves it: in the first one item failed and one was never begun; the second ran both. */
async function made() {
  const record = new Memory();
  listKeys(record, producer.listed, worker.listed);
  const [batch, at] = [newRunId(), new Date().toISOString()];
  const request = { blocks: [{ language: 'sh', code: 'true' }] };
  let head: BatchHead = {
    ...({ version: 1, tenant, batch, createdAt: at, author: { key: 'k', role: 'submitter' } } as const),
    ...{ over: { items: [{}] }, rules: { parallel: 1, onFailure: 'continue' }, request, items },
    ...{ policy: { name: 'sealed', digest: sha256('p') }, image: { ref: 'python', digest: sha256('i') } },
    rounds: [0, 1].map((round) => ({
      at: new Date(Date.parse(at) + round).toISOString(),
      by: 'k',
      key: 'k',
      carried: 0,
    })),
  };
  const end = async (round: number, item: number, outcome: ItemEnd['outcome']): Promise<ItemEnd> => {
    const none = { run: null, exitCode: null, result: null, outputs: null };
    if (outcome === null) return { item, round, ...none, outcome, reason: 'never begun' };
    const run = itemRunId(head, round, item);
    const base = emptyResult({ run, tenant, spec: null }, undefined, { outcome, reason: 'r' }, new Date());
    const put = await putSigned(record, producer.signer, { ...base, labels: { batch } });
    const result = sha256(record.get(put.result) ?? '');
    return { item, round, run, outcome, exitCode: null, reason: 'r', result, outputs: null };
  };
  const first = await Promise.all(
    (['succeeded', 'failed', 'succeeded', null, 'cancelled'] as const).map((outcome, item) => end(0, item, outcome)),
  );
  const again = await Promise.all([1, 3, 4].map((item) => end(1, item, 'succeeded')));
  const rounds = [first, first.map((one) => again.find(({ item }) => item === one.item) ?? one)];
  const keys = {
    head: recordKeys.batchHead(tenant, batch),
    manifest: recordKeys.batchManifest(tenant, batch, 1),
    evidence: recordKeys.batchEvidence(tenant, batch, 1),
    result: recordKeys.result(tenant, again[0]?.run ?? ''),
    carried: recordKeys.result(tenant, first[0]?.run ?? ''),
  };
  const putHead = (value: BatchHead) => record.set(keys.head, Buffer.from(canonical(value)));
  /** As a leader ends a round, with these lines. */
  const endRound = (round: number, ends: readonly ItemEnd[], by = producer, said: Partial<BatchCounts> = {}) => {
    const text = ends.map((one) => `${canonical(one)}\n`).join('');
    const counts: BatchCounts = { succeeded: 0, failed: 0, cancelled: 0, skipped: 0 };
    for (const one of ends) counts[fateOf(one)] += 1;
    Object.assign(counts, said);
    const now = new Date().toISOString();
    const of = { installation: 'i', head, round, counts, manifest: sha256(text), at: now };
    const { text: bundle } = signBatch(by.signer.key, batchStatement(of, by.signer.facts));
    const manifest = { key: recordKeys.batchManifest(tenant, batch, round), sha256: sha256(text), bytes: text.length };
    const evidence = { bundle: recordKeys.batchEvidence(tenant, batch, round), sha256: sha256(bundle) };
    record.set(manifest.key, Buffer.from(text));
    record.set(evidence.bundle, Buffer.from(bundle));
    const ended = { at: now, counts, manifest, evidence };
    head = { ...head, rounds: head.rounds.map((one, i) => (i === round ? { ...one, ended } : one)) };
    putHead(head);
  };
  for (const [round, ends] of rounds.entries()) endRound(round, ends);
  return { record, batch, keys, rounds, endRound, putHead, head: () => head };
}
type Made = Awaited<ReturnType<typeof made>>;

const verdictOf = async ({ record, batch }: Made) => verifyBatch(await verificationOf(record), { tenant, batch });

const flip = (bytes: Buffer | undefined) => {
  const other = Buffer.from(bytes ?? '');
  const middle = other.length >> 1;
  other.writeUInt8(other.readUInt8(middle) ^ 1, middle);
  return other;
};

describe('a verifier of a batch', () => {
  test('finds it valid as its producer left it, with the counts of its newest round', async () => {
    const { findings, verdict, counts, signedBy } = await verdictOf(await made());
    assert.deepEqual([verdict, findings], ['VALID', []]);
    assert.deepEqual(counts, { succeeded: 5, failed: 0, cancelled: 0, skipped: 0 });
    assert.equal(signedBy?.key, producer.listed.fingerprint);
  });

  for (const name of ['manifest', 'evidence', 'result', 'carried'] as const)
    test(`calls it MODIFIED where one bit of its ${name} is turned, and MISSING where that is gone`, async () => {
      const batch = await made();
      const key = batch.keys[name];
      const first = async () => {
        const { verdict, findings } = await verdictOf(batch);
        return [verdict, findings[0]?.object];
      };
      batch.record.set(key, flip(batch.record.get(key)));
      assert.deepEqual(await first(), ['MODIFIED', key]);
      batch.record.delete(key);
      assert.deepEqual(await first(), ['MISSING', key]);
    });

  const edits: Readonly<Record<string, [edit: (batch: Made) => unknown, verdict: string]>> = {
    'whose head asks for other code': [
      ({ putHead, head }) => putHead({ ...head(), request: { blocks: [{ language: 'sh', code: 'false' }] } }),
      'INCONSISTENT',
    ],
    'whose head is that of another batch': [
      ({ putHead, head }) => putHead({ ...head(), batch: newRunId() }),
      'MODIFIED',
    ],
    'whose head is no JSON': [({ record, keys }) => record.set(keys.head, Buffer.from('{')), 'MODIFIED'],
    'whose round is said to go on': [
      ({ putHead, head }) => putHead({ ...head(), rounds: head().rounds.map(({ ended: _ended, ...rest }) => rest) }),
      'INCONSISTENT',
    ],
    'that a stranger signed': [({ endRound, rounds }) => endRound(1, rounds[1] ?? [], stranger), 'UNSIGNED'],
    'that a worker signed': [({ endRound, rounds }) => endRound(1, rounds[1] ?? [], worker), 'INCONSISTENT'],
    'whose counts are others': [
      ({ endRound, rounds }) => endRound(1, rounds[1] ?? [], producer, { succeeded: 4 }),
      'INCONSISTENT',
    ],
    'that leaves an item out': [({ endRound, rounds }) => endRound(1, rounds[1]?.slice(1) ?? []), 'INCONSISTENT'],
    'that changes what it carries on': [
      ({ endRound, rounds }) => endRound(1, rounds[1]?.map((one) => ({ ...one, reason: 'another' })) ?? []),
      'INCONSISTENT',
    ],
    'that names the run of another item': [
      ({ endRound, rounds: [, second = []] }) =>
        endRound(
          1,
          second.map((one) => (one.item === 3 ? { ...one, run: second[1]?.run ?? null } : one)),
        ),
      'INCONSISTENT',
    ],
    'that says another outcome than the result': [
      ({ endRound, rounds: [, second = []] }) =>
        endRound(
          1,
          second.map((one) => (one.item === 3 ? { ...one, outcome: 'failed' } : one)),
        ),
      'INCONSISTENT',
    ],
  };
  for (const [what, [edit, verdict]] of Object.entries(edits))
    test(`calls a batch ${verdict} ${what}`, async () => {
      const batch = await made();
      edit(batch);
      const said = await verdictOf(batch);
      assert.equal(said.verdict, verdict, JSON.stringify(said.findings));
    });

  test('calls a batch PENDING whose last round goes on', async () => {
    const batch = await made();
    const { rounds } = batch.head();
    batch.putHead({ ...batch.head(), rounds: rounds.map((one, i) => (i === 0 ? one : { ...one, ended: undefined })) });
    assert.equal((await verdictOf(batch)).verdict, 'PENDING');
  });

  test('is not held up by a manifest that is one endless line', async () => {
    const batch = await made();
    batch.record.set(batch.keys.manifest, Buffer.alloc(8 * 2 ** 20, 'x'));
    assert.equal((await verdictOf(batch)).verdict, 'MODIFIED');
  });

  const all = async ({ record }: Made, since?: Date) => {
    const told: string[] = [];
    const of = await verificationOf(record);
    await verifyBatches(of, batchesIn(of.reader, { since }), ({ batch, verdict }) => told.push(`${batch} ${verdict}`));
    return told;
  };

  test('finds every batch of a record, or those since a time', async () => {
    const one = await made();
    assert.deepEqual(await all(one), [`${one.batch} VALID`]);
    assert.deepEqual(await all(one, timeOf(one.batch)), [`${one.batch} VALID`]);
    assert.deepEqual(await all(one, new Date(timeOf(one.batch).getTime() + 1)), []);
  });

  test('misses one whose head is gone, by what was signed', async () => {
    const one = await made();
    one.record.delete(one.keys.head);
    assert.deepEqual(await all(one), [`${one.batch} MISSING`]);
  });

  test('leaves one out that had nothing to run over, and no other one that is said to be so', async () => {
    const one = await made();
    const { rounds, items: _, ...rest } = one.head();
    const ended = { at: rest.createdAt, counts: { succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }, problem: 'no' };
    one.putHead({ ...rest, rounds: rounds.slice(0, 1).map((round) => ({ ...round, ended })) });
    assert.deepEqual(await all(one), [`${one.batch} UNSIGNED`]);
    for (const key of [...one.record.keys()]) if (/^batches\/t\/(manifests|evidence)/.test(key)) one.record.delete(key);
    assert.deepEqual(await all(one), []);
  });
});

test('findBatch finds a batch by its id, and nothing for another id', async () => {
  const { record, batch } = await made();
  assert.deepEqual(await findBatch(record, batch), { tenant, batch });
  assert.equal(await findBatch(record, newRunId()), undefined);
});
