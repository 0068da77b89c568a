import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { apiKeyIdOf } from '@hotcell/contract/apikey.ts';
import { KeyRing } from '@hotcell/producer/auth/keyring.ts';
import { newApiKey, pageOfApiKeys, putApiKey } from '@hotcell/record/api-keys.ts';
import { Buckets } from '@hotcell/record/buckets.ts';
import { z } from 'zod';
import { openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { settle, startProducer } from '../support/producer.ts';

/** API keys: guesses, revocation under way, and long lists. */
const bed = await openBed();
const house = await openHouse(bed);
const producer = await startProducer(bed, house);
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const guess = () => `Bearer hc_${randomBytes(32).toString('base64url')}`;

test('a flood of guessed keys costs the store a bounded number of requests, and keeps no good key from being recognised', async () => {
  await using proxy = await openHttpProxy(bed.installation.store.endpoint);
  const { record: bucket, work } = house.store;
  using store = new Buckets({ ...bed.installation.store, record: bucket, work, endpoint: proxy.url });
  const ring = new KeyRing(store);
  const [used, unseen] = await Promise.all([producer.key('reader'), producer.key('reader')]);
  await ring.recognise(`Bearer ${used}`);
  proxy.seen.length = 0;
  const guesses = Array.from({ length: 6_000 }, () => ring.recognise(guess()));
  const good = [ring.recognise(`Bearer ${used}`), ring.recognise(`Bearer ${unseen}`)];
  for (const end of await Promise.allSettled(guesses)) {
    assert.ok(end.status === 'rejected');
    assert.equal(end.reason.code, 'unauthenticated');
  }
  for (const record of await Promise.all(good)) assert.equal(record.tenant, house.tenant);
  // As many as are looked up one by one, the two good ones, and a listing or two.
  assert.ok(proxy.seen.length < 400, `${proxy.seen.length} requests`);
});

test('a tenant that was never made has no keys and no runs: a mistyped name is refused', async () => {
  const operator = await producer.key('admin', 'default');
  const tenant = `t-${randomBytes(5).toString('hex')}`;
  const ask = async (method: string, path: string, body?: unknown, headers = {}) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await producer.ask(method, path, { key: operator, headers, ...sent });
    return { status: answer.status, said: (await answer.json()) as { detail?: string; tenants?: string[] } };
  };
  const acting = { 'hotcell-tenant': tenant };
  const refused = [
    await ask('GET', '/v1/runs', undefined, acting),
    await ask('POST', '/v1/runs', { blocks: [{ language: 'sh', code: 'x' }] }, acting),
    await ask('POST', '/v1/apikeys', { role: 'reader', tenant }),
  ];
  for (const { status, said } of refused) {
    assert.equal(status, 404);
    assert.match(said.detail ?? '', new RegExp(`Tenant ${tenant} not found\\. .*POST /v1/tenants makes one`));
  }
  for (let i = 0; i < 2; i++) assert.equal((await ask('POST', '/v1/tenants', { tenant })).status, 201);
  assert.ok((await ask('GET', '/v1/tenants')).said.tenants?.includes(tenant));
  assert.equal((await ask('GET', '/v1/runs', undefined, acting)).status, 200);
  assert.equal((await ask('POST', '/v1/apikeys', { role: 'reader', tenant })).status, 201);
  const answer = await producer.ask('POST', '/v1/tenants', { body: JSON.stringify({ tenant: 'another' }) });
  assert.equal(answer.status, 403, 'only the operator makes tenants');
});

test('a key that is revoked ends what goes on with it: a stream, a wait and an upload, and nothing of others', async () => {
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  const [admin, key] = [await producer.key('admin'), await producer.key()];
  const body = JSON.stringify({ blocks: [{ language: 'sh', code: 'hold' }] });
  const answer = await producer.ask('POST', '/v1/runs', { body });
  const { run } = z.object({ run: z.string() }).parse(await answer.json());
  const stream = await producer.ask('GET', `/v1/runs/${run}/events`, { key });
  const others = await producer.ask('GET', `/v1/runs/${run}/events`);
  const wait = producer.ask('GET', `/v1/runs/${run}`, { key, headers: { prefer: 'wait=600' } });
  const begun = Promise.withResolvers<undefined>();
  const upload = fetch(`${producer.url}/v1/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode('{'));
        begun.resolve(undefined);
      },
    }),
    duplex: 'half',
  });
  const ended = Promise.allSettled([stream.text(), wait, upload]);
  await begun.promise;
  const own = await producer.ask('DELETE', `/v1/apikeys/${apiKeyIdOf(admin)}`, { key: admin });
  assert.equal(own.status, 409);
  assert.match(await own.text(), /You can't revoke the key you are using\. Use another admin key\./);
  const revoked = await producer.ask('DELETE', `/v1/apikeys/${apiKeyIdOf(key)}`, { key: admin });
  assert.equal(revoked.status, 200);
  // The one that had not arrived when the key was revoked may be answered 401.
  const ends = (await ended).map((end) => (end.status === 'rejected' ? 'cut' : end.value));
  for (const end of ends) assert.ok(end === 'cut' || (end instanceof Response && end.status === 401), 'it went on');
  await producer.ask('POST', `/v1/runs/${run}/cancel`);
  assert.match(await others.text(), /"outcome":"cancelled"/, 'the other key’s stream came to its end');
});

test('a long list of keys comes in pages, each tenant’s by itself', async () => {
  const [mine, other] = [bed.tenant(), bed.tenant()];
  const made = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const { record } = newApiKey({ tenant: i % 4 ? other : mine, role: 'reader', label: `${i}` });
      await putApiKey(house.store, record);
      return record;
    }),
  );
  const ids = made.filter(({ tenant }) => tenant === mine).map(({ id }) => id);
  const seen: string[] = [];
  for (let after: string | undefined | null; after !== null; ) {
    const page = await pageOfApiKeys(house.producer.store, (tenant) => tenant === mine, { limit: 3, after });
    assert.ok(page.records.length <= 3 + 16);
    seen.push(...page.records.map(({ id }) => id));
    after = page.next;
  }
  assert.deepEqual(seen, ids.toSorted());
  const admin = await producer.key('admin', mine);
  const Page = z.object({ keys: z.array(z.object({ id: z.string() })), next: z.string().nullable() });
  const first = Page.parse(await (await producer.ask('GET', '/v1/apikeys?limit=4', { key: admin })).json());
  assert.ok(first.keys.length >= 4 && first.next !== null);
});
