import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { canonical, digestOf, sha256 } from '@hotcell/contract/digest.ts';
import type { HotcellError } from '@hotcell/contract/errors.ts';
import { newRunId, RunId } from '@hotcell/contract/names.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { policyDigest } from '@hotcell/contract/policy.ts';
import { OpenRuns } from '@hotcell/producer/queue-again.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { followCommitted } from '@hotcell/record/commit.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { forgetOldKeys } from '@hotcell/record/forget-keys.ts';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import { PinnedPolicies } from '@hotcell/record/pinned-policies.ts';
import { putPolicy } from '@hotcell/record/put-policy.ts';
import { readOpenMarker } from '@hotcell/record/run-marks.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoQueue, echoSteps } from '../support/echo.ts';
import { type House, openHouse } from '../support/house.ts';
import { policyOf } from '../support/policies.ts';
import { keysOf, resultOf, settled } from '../support/promise.ts';
import { until } from '../support/until.ts';

let bed: Bed;
let house: House;
before(async () => {
  bed = await openBed();
});
beforeEach(async () => {
  house = await openHouse(bed);
});
afterEach(() => house[Symbol.asyncDispose]());
after(() => bed[Symbol.asyncDispose]());

const always = async () => {};
const sweep = ({ producer }: House) => new OpenRuns(producer, new AbortController().signal).sweepAll(always);
const bend = (key: string) => house.store.put(house.store.work, key, '{"version":1,');

/** Accepted, and not in any queue. */
async function held(code: string, more: object = {}) {
  const { run } = await house.submit(code, more);
  await house.producer.queues.of(echoQueue).remove(run);
  return run;
}

test('a run whose open marker cannot be read is queued again as its spec and its policy say', async () => {
  const policy = policyOf({ worker: { labels: ['gpu'] } });
  await putPolicy(house.producer.store, policy, policyDigest(policy));
  const spec = { policy: { name: policy.name, digest: policyDigest(policy) }, priority: 7 };
  const { run } = await house.submit('print hello', { spec, queue: 'runc-gpu' });
  const { store, tenant } = house;
  const marker = await readOpenMarker(store, tenant, run);
  await bend(workKeys.open(tenant, run));
  assert.deepEqual(await readOpenMarker(store, tenant, run), marker);
  await house.producer.queues.of('runc-gpu').remove(run);
  await sweep(house);
  const judge = async (asked: Spec) => ({
    ...(await echoSteps.judge(asked)),
    queue: 'runc-gpu',
  });
  const steps = { ...echoSteps, judge };
  await using _worker = await house.worker('gpu', { env: { HOTCELL_QUEUES: 'runc-gpu' }, steps });
  assert.equal((await resultOf(house, run)).outcome, 'succeeded');
  await settled(house, [run]);
});

test('a key that names no run, or a marker that nothing can replace, is reported once and holds up no other run', async () => {
  const reported: HotcellError[] = [];
  const about = { ...bed.installation.store, record: house.store.record, work: house.store.work };
  using store = new Buckets(about, (error) => reported.push(error));
  const lost = await held('print hello');
  const without = newRunId();
  const strange = ['open/0/strange', `open/1/${house.tenant}/no-run`, workKeys.cancel('no-run')];
  const open = workKeys.open(house.tenant, without);
  for (const key of [...strange, open]) await bend(key);
  const runs = new OpenRuns({ ...house.producer, store }, new AbortController().signal);
  for (let pass = 0; pass < 2; pass++) await runs.sweepAll(always);
  assert.equal((await house.producer.queues.of(echoQueue).missing([lost])).length, 0);
  for (const key of [...strange.slice(0, 2), open])
    assert.equal(reported.filter(({ message }) => message.includes(key)).length, 1, key);
  assert.equal((await keysOf(house.store, house.store.work, 'open/0/strange')).length, 1);
  await house.store.deleteMany(house.store.work, [...strange, open]);
  await using _worker = await house.worker('one');
  await resultOf(house, lost);
  await settled(house, [lost]);
});

describe('a run goes on beside', () => {
  test('a claim that cannot be read: it is an attempt of a worker that is not known', async () => {
    const run = await held('print hello');
    await bend(workKeys.claim(run, 1));
    await sweep(house);
    await using _worker = await house.worker('one');
    const { outcome, attempts } = await resultOf(house, run);
    assert.equal(outcome, 'succeeded');
    assert.deepEqual(
      attempts.map(({ worker, error }) => [worker, error?.code]),
      [
        ['unknown', 'worker_gone'],
        ['one', undefined],
      ],
    );
    await settled(house, [run]);
  });

  test('the record of an earlier attempt that cannot be read: the attempt counts as failed', async () => {
    const run = await held('print hello');
    const [attempt, nonce, startedAt] = [1, crypto.randomUUID(), new Date().toISOString()];
    const claim = { version: 1, run, attempt, worker: 'gone', nonce, startedAt };
    await house.store.put(house.store.work, workKeys.claim(run, 1), canonical(claim));
    const key = recordKeys.attemptRecord(house.tenant, run, { attempt, claim: nonce });
    await house.store.put(house.store.record, key, 'bent');
    await sweep(house);
    await using _worker = await house.worker('one');
    const { attempts } = await resultOf(house, run);
    assert.deepEqual(
      attempts.map((one) => one.error?.code),
      ['worker_gone', undefined],
    );
    await settled(house, [run]);
  });

  test('a cancel mark that cannot be read: it cancels the run', async () => {
    const run = await held('hold');
    await bend(workKeys.cancel(run));
    await sweep(house);
    await using _worker = await house.worker('one');
    const { outcome, reason } = await resultOf(house, run);
    assert.equal(outcome, 'cancelled');
    assert.match(reason, /by unknown.*cannot be read/);
    await settled(house, [run]);
  });

  test('a done marker that cannot be read: the notary clears the run up, since it has a result', async () => {
    await using worker = await house.worker('one');
    const { run } = await house.submit('print hello');
    await resultOf(house, run);
    await worker.stop();
    const unfinished = await held('print hello');
    for (const one of [run, unfinished]) await bend(workKeys.done(house.tenant, one));
    assert.equal(await house.clearFinished(), 1);
    assert.deepEqual(
      (await keysOf(house.store, house.store.work, 'open/')).map((key) => key.slice(-36)),
      [unfinished],
    );
    await sweep(house);
    await using _again = await house.worker('two');
    await resultOf(house, unfinished);
    await settled(house, [run, unfinished]);
  });
});

test('the digest of a result with fields of a newer version stays, so that the notary clears its run up', async () => {
  const run = await held('print hello');
  const { store, tenant } = house;
  const result = {
    ...emptyResult({ run, tenant, spec: null }, undefined, { outcome: 'rejected', reason: 'r' }, new Date()),
    ledger: { of: 'a newer version' },
  };
  await store.put(store.record, recordKeys.result(tenant, run), canonical(result));
  const read = await followCommitted({ store, live: house.producer.live, log: house.producer.log }, tenant, run);
  assert.equal(digestOf(read), digestOf(result));
  assert.equal(await house.clearFinished(), 1);
});

test('a worker leaves a run whose spec asks for more than it knows to a newer worker, and uses up no attempt', async () => {
  const run = RunId.parse(newRunId());
  const { run: other, spec } = await house.submit('print hello', { spec: { notBefore: '2999-01-01T00:00:00Z' } });
  const { store, tenant, producer } = house;
  const newer = canonical({ ...spec, run, ledger: { size: 1 } });
  await store.put(store.record, recordKeys.spec(tenant, run), newer);
  const about = { installation: producer.installation, run, tenant, spec: sha256(newer), queue: echoQueue };
  await producer.queues.of(echoQueue).enqueue(producer.tickets.issue(about, new Date()), { run, tenant, priority: 5 });
  await using worker = await house.worker('old');
  const beat = await until('the run says why it waits', async () => {
    const [now] = await producer.live.statusesOf([run]);
    return now?.waiting ? now : undefined;
  });
  assert.equal(beat.status, 'queued');
  assert.match(beat.waiting?.message ?? '', /newer worker than old: .*does not know: ledger/);
  assert.deepEqual(await keysOf(store, store.work, workKeys.claims(run)), []);
  await worker.stop();
  for (const one of [run, other]) await producer.queues.of(echoQueue).remove(one);
  await store.delete(store.work, workKeys.open(tenant, other));
});

test('a revocation that cannot be read revokes its policy, and no other', async () => {
  const [revoked, other] = [policyOf({}, 'revoked'), policyOf({}, 'other')];
  for (const policy of [revoked, other]) await putPolicy(house.producer.store, policy, policyDigest(policy));
  await house.store.put(house.store.record, recordKeys.policyRevoked(policyDigest(revoked)), 'bent');
  using policies = new PinnedPolicies(house.store);
  assert.equal((await policies.get(policyDigest(revoked))).revoked?.by, 'unknown');
  assert.equal((await policies.get(policyDigest(other))).revoked, undefined);
});

test('an idempotency mark that cannot be read is forgotten when it is old, and the others with it', async () => {
  await using own = await openHouse(bed);
  const keys = ['a', 'b'].map((name) => workKeys.idempotency(own.tenant, name));
  for (const key of keys) await own.store.put(own.store.work, key, 'bent');
  const { signal } = new AbortController();
  const inDays = (days: number) => new Date(Date.now() + days * 24 * 3600_000);
  await forgetOldKeys(own.store, inDays(6.9), signal);
  assert.deepEqual(await keysOf(own.store, own.store.work), keys);
  await forgetOldKeys(own.store, inDays(7.1), signal);
  assert.deepEqual(await keysOf(own.store, own.store.work), []);
});
