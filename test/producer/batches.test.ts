import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Hotcell } from '@hotcell/client/index.ts';
import { routes } from '@hotcell/contract/api/routes.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { isSealedBy, payloadOf } from '@hotcell/contract/evidence/dsse.ts';
import { ItemEnd } from '@hotcell/contract/batch.ts';
import { BatchStatement } from '@hotcell/contract/evidence/batch-statement.ts';
import { readKeyRequest } from '@hotcell/contract/evidence/key-list.ts';
import { VerifyingKey } from '@hotcell/contract/evidence/signing-key.ts';
import { statementType } from '@hotcell/contract/evidence/statement.ts';
import { objects } from '@hotcell/record/objects.ts';
import { readValue } from '@hotcell/record/read-write.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { idOfName } from '@hotcell/producer/snapshots/resolve.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { verificationBy } from '@hotcell/record/verify/verification.ts';
import { findBatch, verifyBatch } from '@hotcell/record/verify/verify-batch.ts';
import { manifestAt } from '@hotcell/record/snapshot-store.ts';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { freezeTree } from '../support/freezing.ts';
import { type House, openHouse } from '../support/house.ts';
import { problemOf } from '../support/problem.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

/** Batches over HTTP, with a producer as in production and a worker that echoes. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let hotcell: Hotcell;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  hotcell = await producer.client();
  await house.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
});
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const echo = (code: string) => ({ blocks: [{ language: 'bash', code }] });
const numbers = (count: number) => ({ items: Array.from({ length: count }, (_, n) => ({ n })) });

async function ended(batch: string) {
  return await until(`batch ${batch} has ended`, async (note) => {
    const shown = note(await hotcell.batches.show(batch));
    return shown.endedAt !== null && shown;
  });
}

async function manifestOf(batch: string): Promise<{ ends: ItemEnd[]; text: string }> {
  const text = await (await hotcell.open(routes.getBatchManifest, { params: { batch } })).text();
  const ends = text
    .trimEnd()
    .split('\n')
    .map((line) => ItemEnd.parse(JSON.parse(line)));
  return { ends, text };
}

/** As an auditor finds it, who trusts the root alone. */
async function verifiedBatch(batch: string) {
  const reader = new StoreReader(house.store);
  const trusted = await trustedKeys(reader, [house.signing.root.public]);
  const at = (await findBatch(reader, batch)) ?? assert.fail(`no batch ${batch}`);
  return await verifyBatch(verificationBy(reader, trusted), at);
}

const specOf = async (run: string | null) => (await findSpec(house.store, house.tenant, run ?? ''))?.spec;

test('each item has a run with its params, and the batch a signed manifest of all results', async () => {
  const over = numbers(120);
  const made = await hotcell.batches.create({ name: 'many', over, parallel: 50, run: echo('print x') });
  assert.deepEqual([made.state, made.items, made.rules.parallel], ['listing', null, 50]);
  const shown = await ended(made.batch);
  assert.deepEqual([shown.state, shown.items, shown.counts.succeeded], ['succeeded', 120, 120]);
  const { ends, text } = await manifestOf(made.batch);
  assert.equal(sha256(text), shown.manifest?.sha256);
  assert.deepEqual(
    ends.map(({ item }) => item),
    Array.from({ length: 120 }).map((_, item) => item),
  );
  assert.equal(new Set(ends.map(({ run }) => run)).size, 120);
  const spec = await specOf(ends[101]?.run ?? '');
  assert.deepEqual(spec?.params, { n: 101, batch: { id: made.batch, item: 101 } });
  assert.equal(spec.labels['batch'], made.batch);
  const stored = await house.store.getBytes(house.store.record, objects.result.key(house.tenant, ends[7]?.run ?? ''));
  assert.equal(ends[7]?.result, sha256(stored ?? ''), 'the manifest names the very bytes of each result');
  // The key that signed it is that of the producer, which asked the root for its place on the list.
  const bundle = await hotcell.call(routes.getBatchEvidence, { params: { batch: made.batch } });
  const statement = BatchStatement.parse(JSON.parse(payloadOf(bundle.dsseEnvelope).toString()));
  assert.equal(`sha256:${statement.subject[0].digest.sha256}`, sha256(text));
  assert.deepEqual([statement.predicate.items, statement.predicate.counts], [120, shown.counts]);
  const request = await readValue(house.store, objects.keyRequest, statement.predicate.signer.key);
  const { publicKey } = readKeyRequest(request ?? assert.fail('the producer has no key'));
  assert.ok(isSealedBy(new VerifyingKey(publicKey), statementType, bundle.dsseEnvelope));
  const { verdict, findings, counts } = await verifiedBatch(made.batch);
  assert.deepEqual([verdict, findings, counts], ['VALID', [], shown.counts]);
  assert.deepEqual((await hotcell.batches.list()).batches[0]?.batch, made.batch);
  assert.ok((await hotcell.list({ label: [`batch=${made.batch}`], limit: 5 })).runs.length === 5);
});

test('lines, rows, files and partitions of a snapshot are items, and it is pinned', async () => {
  const files = {
    'list.jsonl': '{"n":1}\n{"n":2}\n',
    'table.csv': 'name,size\na,1\nb,2\nc,3\n',
    'day=1/x': '1',
    'day=1/y': '2',
    'day=2/x': '3',
  };
  const { snapshot } = await freezeTree(house, house.tenant, files);
  const run = echo('print x');
  const forms = [
    { over: { lines: snapshot, path: 'list.jsonl' }, params: [{ n: 1 }, { n: 2 }], input: false },
    {
      over: { csv: snapshot, path: 'table.csv' },
      params: ['a', 'b', 'c'].map((name, at) => ({ name, size: `${at + 1}` })),
      input: false,
    },
    {
      over: { files: snapshot },
      params: Object.keys(files)
        .toSorted()
        .map((file) => ({ file })),
      input: true,
    },
    {
      over: { partitions: snapshot, by: 'day', as: 'days' },
      params: [
        { partition: { key: 'day', value: '1', files: ['day=1/x', 'day=1/y'] } },
        { partition: { key: 'day', value: '2', files: ['day=2/x'] } },
      ],
      input: true,
    },
  ];
  for (const { over, params, input } of forms) {
    const { batch } = await hotcell.batches.create({ over, run });
    const shown = await ended(batch);
    assert.deepEqual([shown.state, shown.items, shown.over], ['succeeded', params.length, snapshot], shown.reason);
    const { ends } = await manifestOf(batch);
    for (const [item, told] of params.entries()) {
      const spec = await specOf(ends[item]?.run ?? '');
      const about = { id: batch, item };
      assert.deepEqual(spec?.params, input ? { batch: { ...about, ...told } } : { ...told, batch: about });
      assert.deepEqual(
        spec.inputs.map((one) => [one.name, one.snapshot]),
        input ? [['as' in over ? over.as : 'data', snapshot]] : [],
      );
    }
  }
  const broken = await freezeTree(house, house.tenant, { 'only.jsonl': '{"n":1}\nno\n' });
  const { batch } = await hotcell.batches.create({ over: { lines: broken.snapshot }, run });
  const shown = await ended(batch);
  assert.deepEqual([shown.state, shown.items], ['failed', null]);
  assert.match(shown.reason, /^Line 2 is not JSON/);
  await assert.rejects(hotcell.batches.rerun(batch), { code: 'finished_already' });
});

test('after a failure it goes on, stops or cancels as the rule says; a rerun runs what had not succeeded', async () => {
  const over = { items: Array.from({ length: 12 }, (_, n) => ({ n })) };
  // One at a time, and the first fails: what comes after is never begun.
  const stopped = await hotcell.batches.create({ over, parallel: 1, onFailure: 'stop', run: echo('exit 3') });
  const shown = await ended(stopped.batch);
  assert.deepEqual([shown.state, shown.counts], ['failed', { succeeded: 0, failed: 1, cancelled: 0, skipped: 11 }]);
  const first = await manifestOf(stopped.batch);
  assert.deepEqual(
    first.ends.map(({ outcome }) => outcome),
    ['failed', ...Array.from({ length: 11 }).map(() => null)],
  );
  await hotcell.batches.rerun(stopped.batch);
  const again = await ended(stopped.batch);
  assert.deepEqual([again.round, again.counts.failed, again.counts.skipped], [1, 1, 11]);
  const second = await manifestOf(stopped.batch);
  const { verdict, findings } = await verifiedBatch(stopped.batch);
  assert.deepEqual([verdict, findings], ['VALID', []], 'both rounds verify');
  assert.deepEqual([second.ends[0]?.round, second.ends[0]?.outcome], [1, 'failed']);
  assert.notEqual(second.ends[0]?.run, first.ends[0]?.run);
  const { items } = await hotcell.batches.items(stopped.batch, { unsuccessful: 'true' });
  assert.equal(items.length, 12);
});

test('a batch is cancelled as one, and run again without those that had succeeded', async () => {
  const over = { items: [{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }] };
  const made = await hotcell.batches.create({
    over,
    parallel: 2,
    run: { ...echo('hold'), limits: { timeoutSeconds: 600 } },
  });
  await until('two run', async () => (await hotcell.batches.show(made.batch)).running === 2);
  const { items } = await hotcell.batches.items(made.batch);
  assert.deepEqual(
    items.map(({ state }) => state),
    ['running', 'running', 'waiting', 'waiting'],
  );
  await assert.rejects(hotcell.batches.rerun(made.batch), { code: 'conflict' });
  await hotcell.batches.cancel(made.batch, 'wrong input');
  const shown = await ended(made.batch);
  assert.deepEqual([shown.state, shown.counts], ['cancelled', { succeeded: 0, failed: 0, cancelled: 2, skipped: 2 }]);
  assert.match(shown.reason, /wrong input/);
  await assert.rejects(hotcell.batches.cancel(made.batch), { code: 'finished_already' });
});

test('the results are published by item; what had succeeded is carried over a rerun', async () => {
  const { batch } = await hotcell.batches.create({
    ...{ over: { items: [{ n: 0 }, { n: 1 }] }, publish: 'collected', run: echo('output hello') },
  });
  const shown = await ended(batch);
  assert.equal(shown.published?.name, 'collected');
  const id = await idOfName(house.store, house.tenant, 'collected');
  assert.equal(shown.published.snapshot, id);
  const files = await manifestAt(house.store, house.tenant, id);
  assert.deepEqual(
    files.map(({ path }) => path),
    ['items/000000/out.txt', 'items/000001/out.txt', 'manifest.ndjson'],
  );
  assert.equal(files[2]?.sha256, shown.manifest?.sha256);
  await assert.rejects(hotcell.batches.rerun(batch), { code: 'finished_already' });
});

test('a batch waits where a run would be refused for a quota, and says so', async () => {
  await using small = await openHouse(bed, { quotas: {} });
  const quotas = await bed.folder('quotas');
  const file = `${quotas}/quotas.json`;
  await writeFile(file, JSON.stringify({ version: 1, defaults: { waitingRuns: 3 } }));
  await using tight = await startProducer(bed, small, { HOTCELL_QUOTAS: file });
  const client = await tight.client();
  const { batch } = await client.batches.create({ over: numbers(8), parallel: 10, run: echo('print x') });
  const held = await until('it is held up', async () => {
    const shown = await client.batches.show(batch);
    return shown.problem && shown;
  });
  assert.equal(held.problem?.code, 'quota_exceeded');
  assert.equal(held.running, 3);
  await small.worker('echo', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  const done = await until('all are done', async (note) => {
    const shown = note(await client.batches.show(batch));
    return shown.endedAt !== null && shown;
  });
  assert.equal(done.counts.succeeded, 8);
  await settle(small, tight);
});

test('a batch that could never run is refused when it is made, with every reason', async () => {
  const refused = async (body: unknown, status: number, key?: string) => {
    const answer = await producer.ask('POST', '/v1/batches', { body: JSON.stringify(body), ...(key && { key }) });
    const problem = await problemOf(answer);
    assert.equal(answer.status, status, problem.detail);
    return z
      .looseObject({ errors: z.array(z.object({ path: z.string(), message: z.string() })) })
      .parse(problem)
      .errors.map(({ path }) => path);
  };
  const run = echo('print x');
  const clash = { ...run, params: { batch: 1 }, labels: { batch: 'x' }, publish: 'name' };
  assert.deepEqual(await refused({ over: { items: [{}, { batch: 1 }] }, run: clash }, 400), [
    ...['run.params.batch', 'run.labels.batch', 'run.publish', 'over.items[1]'],
  ]);
  assert.deepEqual(await refused({ over: { items: [] }, run }, 400), ['over.items']);
  const text = (bytes: number) => 'x'.repeat(bytes);
  assert.deepEqual(await refused({ over: { items: [{ x: text(17_000) }] }, run }, 400), ['over.items[0]']);
  const many = { items: Array.from({ length: 1_000 }, () => ({ x: text(1_100) })) };
  assert.deepEqual(await refused({ over: many, run }, 400), ['over.items']);
  assert.deepEqual(await refused({ over: { files: 'no-such-name' }, run }, 400), ['over']);
  assert.deepEqual(await refused({ over: { files: 's3://bucket/prefix' }, run }, 400), ['over']);
  assert.deepEqual(await refused({ over: numbers(1), run: { ...run, policy: 'none-such' } }, 422), ['run.policy']);
  await refused({ over: numbers(1), run }, 403, await producer.key('reader'));
  const { batch } = await hotcell.batches.create({ over: numbers(1), run });
  const other = await producer.client('submitter', bed.tenant());
  await assert.rejects(other.batches.show(batch), { code: 'not_found' });
  await assert.rejects(hotcell.batches.show('nonsense'), { code: 'not_found' });
  await ended(batch);
});
