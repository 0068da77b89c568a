import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Digest, digestOf } from '@hotcell/contract/digest.ts';
import { dayMs } from '@hotcell/contract/day-length.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { newRunId, type RunId } from '@hotcell/contract/names.ts';
import type { Retention } from '@hotcell/contract/retention.ts';
import type { Spec } from '@hotcell/contract/spec.ts';
import { commit } from '@hotcell/record/commit.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';
import { whyErased } from '@hotcell/record/erasures.ts';
import { type ExpiredRun, eraseExpired } from '@hotcell/record/gc/erase-expired.ts';
import { objects } from '@hotcell/record/objects.ts';
import { putPolicy } from '@hotcell/record/put-policy.ts';
import { putFirstKept } from '@hotcell/record/read-write.ts';
import { StoreReader } from '@hotcell/record/verify/store-reader.ts';
import { trustedKeys } from '@hotcell/record/verify/trusted-keys.ts';
import { openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { policyOf } from '../support/policies.ts';
import { specFor } from '../support/spec.ts';
import { verdictsOf } from '../support/verified.ts';

const bed = await openBed();
const house = await openHouse(bed);
const { store, tenant } = house;
after(async () => {
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const locked = { mode: 'governance', days: 30 } as const;

async function pinned(name: string, retention: object): Promise<Spec['policy']> {
  const policy = policyOf(
    { extends: 'ground', description: name, runtime: 'runc', images: ['python'], retention },
    name,
  );
  const digest: Digest = digestOf(policy);
  await putPolicy(store, policy, digest);
  return { name, digest };
}

const erases = await pinned('erases', { ...locked, after: 'erase' });
const keeps = await pinned('keeps', locked);

/** A run that ended so many days ago, as an id of that time says too. `retention`: what its objects are locked by. */
async function ended(daysAgo: number, policy: Spec['policy'], retention?: Retention): Promise<RunId> {
  const at = new Date(Date.now() - daysAgo * dayMs);
  const ms = at.getTime().toString(16).padStart(12, '0');
  const run: RunId = `${ms.slice(0, 8)}-${ms.slice(8)}${newRunId().slice(13)}`;
  const asked: Spec = { ...specFor(tenant, 'of a person'), run, acceptedAt: at.toISOString(), policy };
  const spec: Spec = { ...asked, ...(retention && { retention }) };
  await putFirstKept(store, objects.spec, retention, spec, tenant, run);
  const ending = { outcome: 'cancelled', reason: 'Cancelled by anna', errors: [] } as const;
  await commit(house.producer, emptyResult({ run, tenant, spec: digestOf(spec) }, spec, ending, at), { spec });
  return run;
}

/** These runs ended long before their producer's key was made, so it is listed from then on. */
const from = new Date(Date.now() - 1000 * dayMs).toISOString();
await house.signing.change((list) => ({ ...list, keys: list.keys.map((key) => ({ ...key, from })) }));

const { root } = house.signing;
const eraser = async () => ({ root, trusted: await trustedKeys(new StoreReader(store), [root.public]) });

async function pass(more: { dryRun?: true; now?: number } = {}) {
  const listed: ExpiredRun[] = [];
  const told: string[] = [];
  const count = await eraseExpired(store, {
    ...(more.dryRun ? {} : { eraser }),
    ...(more.now !== undefined && { now: more.now }),
    by: 'anna@host, by gc',
    tell: (line) => void told.push(line),
    listed: (one) => void listed.push(one),
  });
  return { count, told, runs: listed.map(({ run }) => run) };
}

/** Behind the store's back: there is one version of it, and it is another one. */
async function rewrite(key: string, bytes: Uint8Array): Promise<void> {
  await store.deleteVersions(store.record, await Array.fromAsync(store.listVersions(store.record, key)));
  await store.put(store.record, key, bytes);
}

const hasCode = async (run: RunId) => (await store.head(store.record, objects.spec.key(tenant, run))) !== undefined;

describe('a pass over the runs whose retention is over', () => {
  test('erases those whose policy says so, and says who, when and why', async () => {
    const [old, young, kept] = [await ended(31, erases), await ended(29, erases), await ended(400, keeps)];
    const dry = await pass({ dryRun: true });
    assert.deepEqual([dry.runs, dry.count], [[old], { erased: 0, held: 0, unverified: 0 }]);
    assert.ok(await hasCode(old), 'a dry run removes nothing');
    assert.deepEqual((await pass()).count, { erased: 1, held: 0, unverified: 0 });
    assert.deepEqual([await hasCode(old), await hasCode(young), await hasCode(kept)], [false, true, true]);
    const why = 'by anna@host, by gc (the retention of the policy erases is over (30 days, after: erase))';
    assert.ok((await whyErased(store, tenant, old))?.includes(why));
    assert.equal(await whyErased(store, tenant, young), undefined);
    assert.equal((await verdictsOf(house)).get(old)?.verdict, 'VALID');
    assert.deepEqual((await pass()).runs, [], 'an erased run is looked at no more');
  });

  test('erases no run that does not verify, says why, and goes on with the others', async () => {
    const [bent, renamed, sound] = [await ended(33, erases), await ended(400, keeps), await ended(32, erases)];
    const spec = objects.spec.key(tenant, bent);
    await rewrite(spec, Buffer.from('{}'));
    // Its policy wants nothing erased. One who can write to the disk says that another one judged it.
    const result = objects.result.key(tenant, renamed);
    const text = (await store.getBytes(store.record, result))?.toString() ?? assert.fail();
    assert.ok(text.includes(keeps.digest));
    await rewrite(result, Buffer.from(text.replace(keeps.digest, erases.digest).replace('"keeps"', '"erases"')));
    const { count, told } = await pass();
    assert.deepEqual(count, { erased: 1, held: 0, unverified: 2 });
    assert.deepEqual([await hasCode(bent), await hasCode(renamed), await hasCode(sound)], [true, true, false]);
    for (const key of [spec, result])
      assert.ok(
        told.some((line) => line.includes(`MODIFIED ${key}`) && line.includes('Nothing was removed')),
        told.join(),
      );
    for (const run of [bent, renamed]) assert.equal(await whyErased(store, tenant, run), undefined);
  });

  test('goes on behind a result that can’t be read', async () => {
    const [damaged, sound] = [await ended(35, erases), await ended(34, erases)];
    await rewrite(objects.result.key(tenant, damaged), Buffer.from('{'));
    const { count, told } = await pass();
    assert.equal(count.erased, 1);
    assert.deepEqual([await hasCode(damaged), await hasCode(sound)], [true, false]);
    assert.ok(
      told.some((line) => line.includes(damaged)),
      told.join(),
    );
    await store.deleteVersions(
      store.record,
      await Array.fromAsync(store.listVersions(store.record, objects.result.key(tenant, damaged))),
    );
  });

  test('erases nothing with a key that is not the root, says so once, and fails nothing', async () => {
    const run = await ended(36, erases);
    const stranger = new SigningKey(SigningKey.generate());
    const told: string[] = [];
    const count = await eraseExpired(store, {
      eraser: async () => ({ ...(await eraser()), root: stranger }),
      by: 'a stranger',
      tell: (line) => void told.push(line),
    });
    assert.equal(count.erased, 0);
    assert.equal(told.filter((line) => line.startsWith('No run is erased: ')).length, 1, told.join());
    assert.ok(await hasCode(run));
    assert.equal((await pass()).count.erased, 1);
  });

  test('leaves a run that Object Lock still holds, and says until when', async () => {
    const run = await ended(0, erases, locked);
    const { count, told } = await pass({ now: Date.now() + 29.5 * dayMs });
    assert.ok(!told.some((line) => line.includes(run)), 'its days are not over');
    assert.equal(count.held, 0);
    // Someone set this machine's clock forward: the store's own lock holds.
    const early = await pass({ now: Date.now() + 31 * dayMs });
    assert.equal(early.count.held, 1);
    assert.ok(
      early.told.some((line) => line.includes(`Run ${run} is kept until`)),
      early.told.join(),
    );
    assert.ok(await hasCode(run));
    assert.equal(await whyErased(store, tenant, run), undefined);
  });
});
