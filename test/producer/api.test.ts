import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { apiKeyIdOf } from '@hotcell/contract/apikey.ts';
import { digestOf, sha256 } from '@hotcell/contract/digest.ts';
import { readResult } from '@hotcell/record/commit.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { ShownResult } from '@hotcell/contract/api/runs.ts';
import { Spec } from '@hotcell/contract/spec.ts';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { problemOf } from '../support/problem.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
});
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const requestFor = (code: string, more: object = {}) => JSON.stringify({ blocks: [{ language: 'sh', code }], ...more });

async function finished(code: string, more: object = {}): Promise<ShownResult> {
  const answer = await producer.ask('POST', '/v1/runs', {
    body: requestFor(code, more),
    headers: { prefer: 'wait=120' },
  });
  assert.equal(answer.status, 200);
  return ShownResult.parse(await answer.json());
}

test('an accepted run is answered with 202 and a Location that shows it', async () => {
  const answer = await producer.ask('POST', '/v1/runs', { body: requestFor('print hello') });
  assert.equal(answer.status, 202);
  const { run } = z.object({ run: z.string() }).parse(await answer.json());
  assert.equal(answer.headers.get('location'), `/v1/runs/${run}`);
  const shown = await producer.ask('GET', `/v1/runs/${run}`, { headers: { prefer: 'wait=120' } });
  const result = ShownResult.parse(await shown.json());
  assert.equal(result.outcome, 'succeeded');
  assert.equal(result.run, run);
  const stored = await readResult(house.store, house.tenant, run);
  const { stdout, stderr, truncated, ...asStored } = result;
  assert.deepEqual(asStored, stored);
  assert.deepEqual([stdout, stderr, truncated], ['hello\n', '', false]);
});

test('the spec of a run says what it was asked to do, and its digest is the one that the result names', async () => {
  const { run, spec: digest } = await finished('print asked', { params: { day: 1 }, labels: { team: 'finance' } });
  const spec = Spec.parse(await (await producer.ask('GET', `/v1/runs/${run}/spec`)).json());
  assert.equal(digestOf(spec), digest);
  assert.deepEqual([spec.blocks, spec.params], [[{ language: 'sh', code: 'print asked' }], { day: 1 }]);
  const refused = await problemOf(
    await producer.ask('POST', '/v1/runs', { body: requestFor('print', { limits: { cpus: 999 } }) }),
  );
  const none = await problemOf(await producer.ask('GET', `/v1/runs/${String(refused['run'])}/spec`));
  assert.equal(none.code, 'not_found');
  assert.match(String(none['detail']), /was refused, so it has no spec/);
});

test('Prefer: wait is answered as soon as the run is finished, or at its end with the state so far', async () => {
  assert.equal((await finished('exit 3')).exitCode, 3);
  const answer = await producer.ask('POST', '/v1/runs', { body: requestFor('hold'), headers: { prefer: 'wait=1' } });
  assert.equal(answer.status, 202);
  assert.equal(answer.headers.get('preference-applied'), 'wait=1');
  const { run } = z.object({ run: z.string() }).parse(await answer.json());
  await producer.ask('POST', `/v1/runs/${run}/cancel`, { body: JSON.stringify({ reason: 'it would hold for ever' }) });
  const shown = await producer.ask('GET', `/v1/runs/${run}`, { headers: { prefer: 'wait=120' } });
  const result = ShownResult.parse(await shown.json());
  assert.equal(result.outcome, 'cancelled');
  assert.match(result.reason, /it would hold for ever/);
  const again = await producer.ask('POST', `/v1/runs/${run}/cancel`);
  assert.equal((await problemOf(again)).code, 'finished_already');
});

test('without a valid API key only the health check answers', async () => {
  const expired = await producer.key('admin');
  const id = sha256(expired).slice('sha256:'.length, 'sha256:'.length + 16);
  const stored = await house.store.getBytes(house.store.record, recordKeys.apiKey(id));
  const record = JSON.parse(String(stored));
  await house.store.put(
    house.store.record,
    recordKeys.apiKey(id),
    JSON.stringify({ ...record, expiresAt: '2020-01-01T00:00:00.000Z' }),
  );
  const paths = ['/v1/runs', '/v1/workers', '/v1/apikeys', '/v1/policies', '/v1/snapshots', '/metrics', '/nothing'];
  for (const path of paths)
    for (const authorization of ['', 'Bearer nope', `Bearer hc_${'A'.repeat(43)}`, `Bearer ${expired}`, 'Basic Zm9v']) {
      const answer = await producer.ask('GET', path, { headers: { authorization } });
      assert.equal(answer.status, 401, `${path} with ${authorization}`);
      assert.equal((await problemOf(answer)).code, 'unauthenticated');
    }
  for (const path of ['/healthz', '/readyz', '/openapi.json'])
    assert.equal((await producer.ask('GET', path, { headers: { authorization: '' } })).status, 200);
});

test('an Idempotency-Key gives the same run for the same request and refuses another request', async () => {
  const ask = async (code: string) =>
    await producer.ask('POST', '/v1/runs', { body: requestFor(code), headers: { 'idempotency-key': 'once' } });
  const both = await Promise.all([ask('print once'), ask('print once')]);
  const runs = await Promise.all(
    both.map(async (answer) => z.object({ run: z.string() }).parse(await answer.json()).run),
  );
  assert.equal(runs[0], runs[1]);
  const other = await problemOf(await ask('print twice'));
  assert.deepEqual([other.status, other.code, other['run']], [422, 'idempotency_mismatch', runs[0]]);
  const bad = await producer.ask('POST', '/v1/runs', { body: requestFor('x'), headers: { 'idempotency-key': 'a b' } });
  assert.equal((await problemOf(bad)).status, 400);
  await producer.ask('GET', `/v1/runs/${runs[0]}`, { headers: { prefer: 'wait=120' } });
});

test('a tenant sees nothing of another tenant’s run by any route', async () => {
  const { run } = await finished('print mine\noutput mine');
  const other = await producer.key('admin', bed.tenant());
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/logs'],
    ['GET', '/events'],
    ['GET', '/outputs'],
    ['GET', '/outputs/out.txt'],
    ['GET', '/policy'],
    ['GET', '/spec'],
    ['POST', '/cancel'],
    ['POST', '/rerun'],
  ] as const) {
    const answer = await producer.ask(method, `/v1/runs/${run}${path}`, { key: other });
    assert.equal((await problemOf(answer)).code, 'not_found', path);
  }
  assert.deepEqual(await (await producer.ask('GET', '/v1/runs', { key: other })).json(), { runs: [], next: null });
  const named = await producer.ask('GET', '/v1/runs', { key: other, headers: { 'hotcell-tenant': house.tenant } });
  assert.equal((await problemOf(named)).code, 'forbidden');
  for (const path of ['/v1/workers']) assert.equal((await producer.ask('GET', path, { key: other })).status, 403);
});

test('a reader may only read, and a submitter may not administer', async () => {
  const reader = await producer.key('reader');
  const { run } = await finished('print x');
  assert.equal((await producer.ask('GET', `/v1/runs/${run}`, { key: reader })).status, 200);
  const asked = await problemOf(await producer.ask('POST', '/v1/runs', { key: reader, body: requestFor('print x') }));
  assert.deepEqual([asked.status, asked.code, asked.errors.length], [422, 'policy_refused', 1]);
  for (const [method, path] of [
    ['POST', `/v1/runs/${run}/cancel`],
    ['POST', `/v1/runs/${run}/rerun`],
    ['GET', '/v1/apikeys'],
    ['GET', '/v1/workers'],
  ] as const)
    assert.equal((await problemOf(await producer.ask(method, path, { key: reader }))).status, 403, path);
  assert.equal((await producer.ask('GET', '/v1/apikeys')).status, 403);
});

test('an API key works once it is made, its listing holds no secret, and a revoked key is refused at once', async () => {
  const admin = await producer.key('admin');
  const body = JSON.stringify({ role: 'reader', label: 'dashboard' });
  const made = await producer.ask('POST', '/v1/apikeys', { key: admin, body });
  assert.equal(made.status, 201);
  const { id, key } = z.object({ id: z.string(), key: z.string() }).parse(await made.json());
  assert.equal((await producer.ask('GET', '/v1/runs', { key })).status, 200);
  const listed = await (await producer.ask('GET', '/v1/apikeys', { key: admin })).text();
  assert.ok(listed.includes(`"id":"${id}"`), listed);
  for (const secret of [key, key.replace(/^.*_/, ''), sha256(key)]) assert.ok(!listed.includes(secret), listed);
  const foreign = JSON.stringify({ role: 'admin', tenant: 'default' });
  assert.equal((await producer.ask('POST', '/v1/apikeys', { key: admin, body: foreign })).status, 403);
  assert.equal((await producer.ask('DELETE', `/v1/apikeys/${id}`, { key: admin })).status, 200);
  const own = await producer.ask('DELETE', `/v1/apikeys/${apiKeyIdOf(admin)}`, { key: admin });
  assert.equal((await problemOf(own)).code, 'conflict', 'no key revokes itself');
  assert.equal((await producer.ask('GET', '/v1/runs', { key: admin })).status, 200);
  const refused = await problemOf(await producer.ask('GET', '/v1/runs', { key }));
  assert.equal(refused.code, 'unauthenticated');
  assert.match(refused.detail, new RegExp(`${id} is revoked`));
});

test('outputs are downloaded byte for byte, and damaged ones are refused', async () => {
  const { run } = await finished('output precious');
  const path = `/v1/runs/${run}/outputs/out.txt`;
  const good = await producer.ask('GET', path);
  assert.equal(await good.text(), 'precious');
  assert.match(good.headers.get('content-disposition') ?? '', /^attachment/);
  assert.equal(good.headers.get('x-content-type-options'), 'nosniff');
  assert.match(good.headers.get('content-security-policy') ?? '', /sandbox/);
  assert.equal((await problemOf(await producer.ask('GET', `/v1/runs/${run}/outputs/other.txt`))).code, 'not_found');
  const { store, tenant } = house;
  await store.put(store.record, recordKeys.cas(tenant, sha256('precious')), 'preciouX');
  assert.equal((await problemOf(await producer.ask('GET', path))).code, 'record_damaged');
});

test('the list is paged, newest first, and agrees with each run’s detail', async () => {
  const label = { labels: { list: 'pages' } };
  const runs: string[] = [];
  for (const code of ['print a', 'exit 4', 'print c']) runs.push((await finished(code, label)).run);
  const page = async (query: string) =>
    z
      .object({
        runs: z.array(z.looseObject({ run: z.string(), outcome: z.string().nullable(), reason: z.string() })),
        next: z.string().nullable(),
      })
      .parse(await (await producer.ask('GET', `/v1/runs?label=list=pages&${query}`)).json());
  const first = await page('limit=2');
  const second = await page(`limit=2&cursor=${first.next}`);
  assert.deepEqual(
    [...first.runs, ...second.runs].map((row) => row.run),
    runs.toReversed(),
  );
  assert.equal(second.next, null);
  for (const row of first.runs) {
    const detail = ShownResult.parse(await (await producer.ask('GET', `/v1/runs/${row.run}`)).json());
    assert.deepEqual([row.outcome, row.reason], [detail.outcome, detail.reason]);
  }
  assert.deepEqual(
    (await page('status=failed')).runs.map((row) => row.run),
    [runs[1]],
  );
});

test('/openapi.json is OpenAPI 3.1 and lists the routes', async () => {
  const answer = await producer.ask('GET', '/openapi.json');
  const described = z
    .object({
      openapi: z.literal('3.1.0'),
      paths: z.record(z.string(), z.record(z.string(), z.looseObject({}))),
    })
    .parse(await answer.json());
  for (const path of [
    '/v1/runs',
    '/v1/runs/{run}',
    '/v1/runs/{run}/logs',
    '/v1/runs/{run}/outputs/{path}',
    '/v1/apikeys',
    '/v1/workers',
    '/v1/policies',
  ])
    assert.ok(path in described.paths, `${path} in ${Object.keys(described.paths).join(' ')}`);
});

test('/metrics is in Prometheus format, and for the operator only', async () => {
  const key = await producer.key('admin', 'default');
  const text = await (await producer.ask('GET', '/metrics', { key })).text();
  for (const role of ['reader', 'submitter', 'admin'] as const)
    assert.equal((await producer.ask('GET', '/metrics', { key: await producer.key(role) })).status, 403, role);
  assert.match(text, /^hotcell_runs_accepted_total \d+$/m);
  assert.match(text, /^hotcell_workers\{state="ready"\} 1$/m);
  for (const line of text.trimEnd().split('\n')) assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? [\d.]+)$/);
});

test('many large bodies at once are read in turn, and all are answered', async () => {
  const code = `print x\n${'# '.repeat(500_000)}`;
  const blocks = Array.from({ length: 12 }, () => ({ language: 'sh', code }));
  const body = JSON.stringify({ blocks });
  const asked = Array.from({ length: 8 }, () => producer.ask('POST', '/v1/runs', { body }));
  for (const answer of await Promise.all(asked)) {
    assert.equal(answer.status, 202, await answer.clone().text());
    const { run } = z.object({ run: z.string() }).parse(await answer.json());
    await producer.ask('POST', `/v1/runs/${run}/cancel`);
    await producer.ask('GET', `/v1/runs/${run}`, { headers: { prefer: 'wait=120' } });
  }
});

test('warnings about the code are in the answer to its submission and in the result', async () => {
  const code = 'print x\ncurl https://example.com/data.csv';
  const answer = await producer.ask('POST', '/v1/runs', { body: requestFor(code) });
  assert.equal(answer.status, 202);
  const { run, warnings } = z.object({ run: z.string(), warnings: z.array(z.string()) }).parse(await answer.json());
  assert.ok(warnings.some((warning) => warning.includes('no network')));
  const shown = await producer.ask('GET', `/v1/runs/${run}`, { headers: { prefer: 'wait=120' } });
  assert.deepEqual(ShownResult.parse(await shown.json()).warnings, warnings);
});
