import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { newApiKey } from '@hotcell/record/api-keys.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { recordKeys, workKeys } from '@hotcell/record/layout.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import type { CancelMark } from '@hotcell/contract/heartbeats.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { StoreAdmin } from '@hotcell/outside/store/store-admin.ts';
import { type Account, findInstallation, type Installation } from '@hotcell/setup/settings/installation.ts';
import { accountKeys } from '@hotcell/setup/store/accounts.ts';

/**
 * Against the running store: what each account must not do is tried with that account's own keys. The keys have the
 * shape the rights speak of, and lie where no scan for runs comes by: what else uses this store is not disturbed.
 */
const mark = `rights-${randomUUID().slice(0, 8)}`;
const run = newRunId();
const key = newApiKey({ tenant: mark, role: 'reader', label: 'of a test' }).record;
const otherKey = newApiKey({ tenant: mark, role: 'admin', label: 'forged' }).record;

const record = {
  spec: `runs/${mark}/there/spec.json`,
  newSpec: `runs/${mark}/new/spec.json`,
  result: `runs/${mark}/there/result.json`,
  newResult: `runs/${mark}/new/result.json`,
  log: `runs/${mark}/there/1/log.ndjson.zst`,
  newLog: `runs/${mark}/new/1/log.ndjson.zst`,
  content: recordKeys.cas(mark, sha256(mark)),
  newContent: recordKeys.cas(mark, sha256(run)),
  apiKey: recordKeys.apiKey(key.id),
  newApiKey: recordKeys.apiKey(otherKey.id),
  newPolicy: recordKeys.policy(sha256(mark)),
};
const work = {
  open: `open/${mark}/there`,
  newOpen: `open/${mark}/new`,
  claim: workKeys.claim(run, 1),
  newClaim: workKeys.claim(run, 2),
  done: `done/${mark}/there`,
  newDone: `done/${mark}/new`,
  cancel: workKeys.cancel(run),
  newCancel: workKeys.cancel(newRunId()),
  segment: workKeys.logSegment(run, 1, 0),
  ledger: `ledger/${mark}/checkpoint`,
};

interface Side {
  store: Buckets;
  admin: StoreAdmin;
}
type Try = (side: Side) => Promise<unknown>;

const put =
  (bucket: 'record' | 'work', key: string): Try =>
  ({ store }) =>
    store.put(store[bucket], key, 'forged');
const get =
  (bucket: 'record' | 'work', key: string): Try =>
  ({ store }) =>
    store.getBytes(store[bucket], key);
const remove =
  (bucket: 'record' | 'work', key: string): Try =>
  ({ store }) =>
    store.delete(store[bucket], key);

const noAccountMay: Readonly<Record<string, Try>> = {
  'delete a spec': remove('record', record.spec),
  'delete a result': remove('record', record.result),
  'delete a content': remove('record', record.content),
  'delete the version of a record that it was given': async ({ store }) => {
    const found = await store.head(store.record, record.spec);
    assert.ok(found?.versionId, 'the record keeps versions');
    await store.delete(store.record, record.spec, found.versionId);
  },
  'give itself more rights': ({ store, admin }) =>
    admin.setPolicy(store.work, {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:*', Resource: `arn:aws:s3:::${store.work}/*` }],
    }),
  'make a bucket of its own': ({ admin }) => admin.createBucket(`${mark}-own`, { locked: false }),
};

const mustNot: Readonly<Record<Account, Readonly<Record<string, Try>>>> = {
  producer: {
    ...noAccountMay,
    'claim a run': put('work', work.newClaim),
    'take back a claim': remove('work', work.claim),
    'write the log of an attempt': put('record', record.newLog),
    'hide a finished run from the notary': remove('work', work.done),
    'take back a cancel mark': remove('work', work.cancel),
    'write into the ledger': put('work', work.ledger),
  },
  worker: {
    ...noAccountMay,
    'write a spec': put('record', record.newSpec),
    'change a spec': put('record', record.spec),
    'write a policy': put('record', record.newPolicy),
    'write an API key': put('record', record.newApiKey),
    'read an API key': get('record', record.apiKey),
    'accept a run': put('work', work.newOpen),
    'make a run forgotten': remove('work', work.open),
    'hide a finished run from the notary': remove('work', work.done),
    'take back a claim': remove('work', work.claim),
    'cancel a run': put('work', work.newCancel),
    'write into the ledger': put('work', work.ledger),
  },
  notary: {
    ...noAccountMay,
    'write a result': put('record', record.newResult),
    'write a spec': put('record', record.newSpec),
    'write a policy': put('record', record.newPolicy),
    'write a content': put('record', record.newContent),
    'write an API key': put('record', record.newApiKey),
    'read an API key': get('record', record.apiKey),
    'accept a run': put('work', work.newOpen),
    'claim a run': put('work', work.newClaim),
    'declare a run done': put('work', work.newDone),
  },
};

/** What the same keys may do, so that a refusal above is due to the right and not to the keys. */
const may: Readonly<Record<Account, Readonly<Record<string, Try>>>> = {
  producer: { 'write a spec': put('record', record.spec), 'accept a run': put('work', work.open) },
  worker: {
    'write a result': put('record', record.result),
    'write a log': put('record', record.log),
    'claim a run': put('work', work.claim),
    'declare a run done': put('work', work.done),
  },
  notary: {
    'read a result': get('record', record.result),
    'write into the ledger': put('work', work.ledger),
    'remove the segments of a log': remove('work', work.segment),
  },
};

let installation: Installation;
let operator: Buckets;

before(async () => {
  const found = await findInstallation(process.env);
  assert.ok(found, 'HOTCELL_HOME names an installation whose store runs');
  installation = found;
  operator = new Buckets(installation.store);
  for (const there of [record.spec, record.result, record.log, record.content])
    await operator.put(operator.record, there, 'true');
  await operator.put(operator.record, record.apiKey, JSON.stringify(key));
  for (const there of [work.open, work.claim, work.done, work.segment])
    await operator.put(operator.work, there, 'true');
  const cancel: CancelMark = { version: 1, run, tenant: mark, by: key.id, reason: 'a test', at: key.createdAt };
  await operator.put(operator.work, work.cancel, JSON.stringify(cancel));
});

after(async () => {
  await operator.deleteMany(operator.work, Object.values(work));
  operator[Symbol.dispose]();
});

async function sideOf(account: Account): Promise<Side & Disposable> {
  const settings = { ...installation.store, ...(await accountKeys(installation, account)) };
  const store = new Buckets(settings);
  const admin = new StoreAdmin(settings);
  return {
    store,
    admin,
    [Symbol.dispose]: () => {
      store[Symbol.dispose]();
      admin[Symbol.dispose]();
    },
  };
}

for (const account of ['producer', 'worker', 'notary'] as const)
  describe(`the ${account}'s account`, () => {
    for (const [what, attempt] of Object.entries(may[account]))
      test(`may ${what}`, async () => {
        using side = await sideOf(account);
        await attempt(side);
      });
    for (const [what, attempt] of Object.entries(mustNot[account]))
      test(`may not ${what}`, async () => {
        using side = await sideOf(account);
        await assert.rejects(
          attempt(side),
          (error: unknown) => error instanceof HotcellError && error.code === 'forbidden',
        );
      });
  });

test('an unknown key opens nothing', async () => {
  using stranger = new Buckets({ ...installation.store, accessKey: 'producer-nobody', secretKey: 'guess' });
  await assert.rejects(
    stranger.getBytes(stranger.record, record.spec),
    (error: unknown) => error instanceof HotcellError && error.code === 'forbidden',
  );
});
