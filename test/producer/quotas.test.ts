import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { z } from 'zod';
import { cliWith } from '../e2e/cli.ts';
import { openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { openHouse } from '../support/house.ts';
import { problemOf } from '../support/problem.ts';
import { settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

/** Quotas by file and by API, over HTTP and on the command line. */
const bed = await openBed();
const house = await openHouse(bed);
const file = join(await bed.folder('quotas'), 'quotas.yaml');
const asked = bed.tenant();
const hasty = bed.tenant();
writeFileSync(
  file,
  `version: 1\ndefaults: { waitingRuns: 3 }\ntenants: { ${hasty}: { requestsPerSecond: 1 }, ${house.tenant}: { runningRuns: 1 } }\n`,
);
const producer = await startProducer(bed, house, { HOTCELL_QUOTAS: file });
const operator = await producer.key('admin', 'default');
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const body = JSON.stringify({ blocks: [{ language: 'bash', code: 'print hello' }] });
const Submitted = z.object({ run: z.string() });

async function waitUntilFull(key: string) {
  const runs: string[] = [];
  for (;;) {
    const answer = await producer.ask('POST', '/v1/runs', { body, key });
    if (answer.status !== 202) return { runs, answer };
    runs.push(Submitted.parse(await answer.json()).run);
  }
}

test('a tenant at its quota of waiting runs is told which quota, its value, its use and when to try again', async () => {
  const key = await producer.key('submitter', asked);
  const { runs, answer } = await waitUntilFull(key);
  assert.equal(runs.length, 3);
  assert.equal(answer.headers.get('retry-after'), '10');
  const { status, code, detail, quota, limit, used } = await problemOf(answer);
  assert.deepEqual([status, code, quota, limit, used], [429, 'quota_exceeded', 'waitingRuns', 3, 3]);
  assert.match(detail, /has reached its quota waitingRuns: 3 of 3\. Try again when some have begun/);
  assert.equal((await producer.ask('POST', '/v1/runs', { body })).status, 202, 'another tenant is not held up');

  // The operator allows one more, at once; a cancelled run makes room as well.
  const put = await producer.ask('PUT', `/v1/quotas/${asked}`, { key: operator, body: '{"waitingRuns":4}' });
  assert.equal(put.status, 200);
  assert.equal((await producer.ask('POST', '/v1/runs', { body, key })).status, 202);
  assert.equal((await producer.ask('POST', '/v1/runs', { body, key })).status, 429);
  await producer.ask('POST', `/v1/runs/${runs[0]}/cancel`, { key });
  assert.equal((await producer.ask('POST', '/v1/runs', { body, key })).status, 202);
});

test('a repeated Idempotency-Key is answered at the quota as before', async () => {
  const key = await producer.key('submitter', bed.tenant());
  const headers = { 'idempotency-key': 'one' };
  const first = Submitted.parse(await (await producer.ask('POST', '/v1/runs', { body, key, headers })).json());
  await waitUntilFull(key);
  const again = await producer.ask('POST', '/v1/runs', { body, key, headers });
  assert.equal(again.status, 202);
  assert.equal(Submitted.parse(await again.json()).run, first.run);
});

test('a tenant at its quota of open streams gets 429, also for a wait, and has room again when one ends', async () => {
  const tenant = bed.tenant();
  const key = await producer.key('submitter', tenant);
  await producer.ask('PUT', `/v1/quotas/${tenant}`, { key: operator, body: '{"openStreams":1}' });
  const { run } = Submitted.parse(await (await producer.ask('POST', '/v1/runs', { body, key })).json());
  const tooLong = JSON.stringify({ blocks: [{ language: 'bash', code: 'true' }], limits: { timeoutSeconds: 80_000 } });
  const { run: ended } = await problemOf(await producer.ask('POST', '/v1/runs', { body: tooLong, key }));
  const ends = new AbortController();
  const stream = await producer.ask('GET', `/v1/runs/${run}/events`, { key, signal: ends.signal });
  assert.equal(stream.status, 200);
  const wait = { key, headers: { prefer: 'wait=1' } };
  for (const refused of [
    await producer.ask('GET', `/v1/runs/${run}/logs?follow=true`, { key }),
    await producer.ask('GET', `/v1/runs/${run}`, wait),
  ]) {
    assert.equal(refused.headers.get('retry-after'), '5');
    const { status, quota, limit, used } = await problemOf(refused);
    assert.deepEqual([status, quota, limit, used], [429, 'openStreams', 1, 1]);
  }
  const finished = await producer.ask('GET', `/v1/runs/${String(ended)}`, { key });
  assert.equal(finished.status, 200, 'a result without its log holds no place');
  await finished.text();
  for (const query of ['?include=stdout', '?include=stdout,stderr'])
    assert.equal(
      (await problemOf(await producer.ask('GET', `/v1/runs/${String(ended)}${query}`, { key })))['quota'],
      'openStreams',
    );
  // What is accepted is answered: without the wait.
  assert.equal((await producer.ask('POST', '/v1/runs', { ...wait, body })).status, 202);
  ends.abort();
  await stream.text().catch(() => undefined);
  await until('there is room again', async () => {
    const answer = await producer.ask('GET', `/v1/runs/${run}`, wait);
    await answer.text();
    return answer.status === 200;
  });
});

test('requests faster than the quota get 429, and neither another tenant nor the operator does', async () => {
  const key = await producer.key('reader', hasty);
  const answers = await Promise.all(Array.from({ length: 40 }, () => producer.ask('GET', '/v1/runs', { key })));
  const refused = answers.filter(({ status }) => status === 429);
  const problem = await problemOf(refused[0] ?? assert.fail());
  assert.deepEqual([problem.code, problem['quota'], problem['limit']], ['quota_exceeded', 'requestsPerSecond', 1]);
  assert.equal(refused[0]?.headers.get('retry-after'), '1');
  assert.equal((await producer.ask('GET', '/v1/runs')).status, 200);
  const raised = await producer.ask('PUT', `/v1/quotas/${hasty}`, {
    key: operator,
    body: '{"requestsPerSecond":1000}',
  });
  assert.equal(raised.status, 200);
  assert.equal((await producer.ask('GET', '/v1/runs', { key })).status, 200, 'at once');
});

test('a tenant sees its own quotas, the operator all; a second producer has what was set on the first', async () => {
  const Shown = z.object({
    quotas: z.record(
      z.string(),
      z.object({ limit: z.number().nullable(), used: z.number().nullable(), from: z.string() }),
    ),
  });
  const show = async (tenant: string, key?: string) =>
    await producer.ask('GET', `/v1/quotas/${tenant}`, { ...(key && { key }) });
  const own = Shown.parse(await (await show(house.tenant)).json()).quotas;
  assert.deepEqual(own['runningRuns'], { limit: 1, used: 0, from: 'file' });
  assert.equal(own['waitingRuns']?.from, 'defaults');
  assert.equal((await show(asked)).status, 404);
  assert.equal((await show(asked, operator)).status, 200);
  for (const method of ['PUT', 'DELETE'])
    assert.equal((await producer.ask(method, `/v1/quotas/${house.tenant}`, { body: '{}' })).status, 403);
  const bad = await producer.ask('PUT', `/v1/quotas/${asked}`, { key: operator, body: '{"waitingRuns":-1}' });
  assert.match((await problemOf(bad)).detail, /waitingRuns: must be at least 0/);

  await using second = await startProducer(bed, house, { HOTCELL_QUOTAS: file });
  const seen = await second.ask('GET', `/v1/quotas/${asked}`, { key: operator });
  assert.deepEqual(Shown.parse(await seen.json()).quotas['waitingRuns']?.limit, 4);
  await producer.ask('PUT', `/v1/quotas/${asked}`, { key: operator, body: '{"waitingRuns":7}' });
  await until('the second producer has looked again', async () => {
    const now = Shown.parse(await (await second.ask('GET', `/v1/quotas/${asked}`, { key: operator })).json());
    return now.quotas['waitingRuns']?.limit === 7;
  });
});

test('the command line sets one quota without touching the others, shows its use, and gives all back to the file', async () => {
  const tenant = bed.tenant();
  const env = { HOTCELL_HOME: await bed.folder('quota-cli'), HOTCELL_URL: producer.url, HOTCELL_API_KEY: operator };
  const cli = cliWith(env);
  const mistyped = await cli.run(['quota', 'set', tenant, '--waiting-runs', '5']);
  assert.match(mistyped.stderr, new RegExp(`^error: Tenant ${tenant} not found\\. .*hotcell tenant create makes one`));
  await cli.run(['tenant', 'create', tenant]);
  await cli.run(['quota', 'set', tenant, '--waiting-runs', '5']);
  const { stdout } = await cli.run(['quota', 'set', tenant, '--running-runs', 'unlimited']);
  assert.match(
    stdout,
    /waitingRuns +5 +0 +api\nrunningRuns +unlimited +0 +api\nrunningCpus +unlimited +0 +shipped\nstoredBytes +unlimited +- +shipped\nopenStreams +unlimited +0 +shipped\nrequestsPerSecond +1000 +- +shipped/,
  );
  assert.match(
    (await cli.run(['quota', 'ls'])).stdout,
    new RegExp(`${tenant} +5 +unlimited +unlimited +unlimited +unlimited +1000`),
  );
  assert.match((await cli.run(['quota', 'unset', tenant])).stdout, /waitingRuns +3 +0 +defaults/);
});

test('a change of the file is in force within seconds; one with a mistake is told and changes nothing', async () => {
  const tenant = bed.tenant();
  const limitOf = async () => {
    const answer = await producer.ask('GET', `/v1/quotas/${tenant}`, { key: operator });
    return z.object({ quotas: z.object({ waitingRuns: z.object({ limit: z.number() }) }) }).parse(await answer.json())
      .quotas.waitingRuns.limit;
  };
  writeFileSync(file, 'version: 1\ndefaults: { waitingRuns: 9 }\n');
  await until('the change is in force', async () => (await limitOf()) === 9);
  writeFileSync(file, 'version: 1\ndefaults: { waitingRun: 1 }\n');
  await until('the mistake is told', async () => {
    const { problems } = z
      .object({ problems: z.array(z.string()) })
      .parse(await (await producer.ask('GET', '/v1/quotas', { key: operator })).json());
    return problems.some((problem) => problem.includes('Did you mean "waitingRuns"?'));
  });
  assert.equal(await limitOf(), 9);
  await assert.rejects(startProducer(bed, house, { HOTCELL_QUOTAS: file }), /The file of quotas is not valid/);
});

test('a run with more CPUs than its tenant’s quota is refused, and says so; one that fits later waits', async () => {
  const tenant = bed.tenant();
  const key = await producer.key('submitter', tenant);
  await producer.ask('PUT', `/v1/quotas/${tenant}`, { key: operator, body: '{"runningCpus":0.5}' });
  const refused = await problemOf(await producer.ask('POST', '/v1/runs', { body, key }));
  assert.equal(refused.status, 422);
  assert.match(
    refused.detail,
    /limits\.cpus: The run would have 1 CPUs, and the quota runningCpus of the tenant .* is 0\.5/,
  );
  await producer.ask('PUT', `/v1/quotas/${tenant}`, { key: operator, body: '{"runningCpus":1.5}' });
  assert.equal((await producer.ask('POST', '/v1/runs', { body, key })).status, 202);
});

test('a tenant’s runs beyond its quota of running runs wait and say why, and all come to their end', async () => {
  const key = await producer.key();
  const submitted = async (code: string) => {
    const one = JSON.stringify({ blocks: [{ language: 'bash', code }] });
    return Submitted.parse(await (await producer.ask('POST', '/v1/runs', { key, body: one })).json()).run;
  };
  await producer.ask('PUT', `/v1/quotas/${house.tenant}`, { key: operator, body: '{"runningRuns":1}' });
  const before = await submitted('hold');
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  const Row = z.object({ status: z.string(), waiting: z.object({ code: z.string() }).optional() });
  const viewOf = async (run: string) => Row.parse(await (await producer.ask('GET', `/v1/runs/${run}`, { key })).json());
  await until('the first one runs', async () => (await viewOf(before)).status === 'running');
  const next = await submitted('print next');
  await until('the next one says why it waits', async () => (await viewOf(next)).waiting?.code === 'quota');
  await producer.ask('POST', `/v1/runs/${before}/cancel`, { key });
  const ended = await producer.ask('GET', `/v1/runs/${next}`, { key, headers: { prefer: 'wait=120' } });
  assert.equal(z.object({ outcome: z.string() }).parse(await ended.json()).outcome, 'succeeded');
});
