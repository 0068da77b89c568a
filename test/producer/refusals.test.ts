import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Result } from '@hotcell/contract/result.ts';
import { z } from 'zod';
import { openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { problemOf } from '../support/problem.ts';
import { settle, startProducer } from '../support/producer.ts';

const bed = await openBed();
const house = await openHouse(bed);
const producer = await startProducer(bed, house);
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const requestFor = (code: string, more: object = {}) => JSON.stringify({ blocks: [{ language: 'sh', code }], ...more });

test('an invalid request body is refused, naming every wrong field', async () => {
  const refused = async (body: string) => await problemOf(await producer.ask('POST', '/v1/runs', { body }));
  for (const body of ['', '{', '[]', '{"__proto__":{}}', '"x"', requestFor('x', { network: 'host' })]) {
    const problem = await refused(body);
    assert.deepEqual([problem.status, problem.code], [400, 'invalid'], body);
  }
  const paths = (
    await refused('{"blocks":[{"language":"sh","code":1}],"limits":{"cpus":"many"},"volumes":[]}')
  ).errors.map(({ path }) => path);
  for (const path of ['blocks[0]', 'limits.cpus', 'volumes'])
    assert.ok(
      paths.some((named) => named.startsWith(path)),
      `${path} in ${paths.join()}`,
    );
  const deep = `{"blocks":[{"language":"sh","code":"x"}],"params":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  assert.equal((await refused(deep)).status, 400);
});

test('an invalid path or query parameter is named', async () => {
  const key = await producer.key('admin', 'default');
  const refused = async (method: string, path: string, body?: string) =>
    (await problemOf(await producer.ask(method, path, { key, ...(body !== undefined && { body }) }))).detail;
  assert.match(
    await refused('POST', '/v1/policies/sealed/revoke', '{"reason":"x"}'),
    /^the address is not valid: policy: must be sha256:/,
  );
  assert.match(await refused('GET', '/v1/runs?limit=many'), /^the query is not valid: limit: /);
});

test('a body that is too large is refused, and the process keeps running', async () => {
  const answer = await producer.ask('POST', '/v1/runs', { body: new Uint8Array(65 * 1024 * 1024).fill(0x20) });
  assert.equal((await problemOf(answer)).code, 'too_large');
  assert.equal((await producer.ask('GET', '/healthz')).status, 200);
});

test('a refusal by the policy names every reason and is recorded under its own id', async () => {
  const body = requestFor('x', {
    limits: { cpus: 64, timeoutSeconds: 100_000 },
    inputs: { a: 'no-such-name' },
    labels: { team: 'a' },
  });
  const problem = await problemOf(await producer.ask('POST', '/v1/runs', { body }));
  assert.deepEqual([problem.status, problem.code, problem.retryable], [422, 'policy_refused', false]);
  assert.deepEqual(problem.errors.map(({ path }) => path).toSorted(), [
    'inputs.a',
    'limits.cpus',
    'limits.timeoutSeconds',
  ]);
  const run = z.string().parse(problem['run']);
  const result = Result.parse(await (await producer.ask('GET', `/v1/runs/${run}`)).json());
  assert.equal(result.outcome, 'rejected');
  assert.deepEqual(result.errors, problem.errors);
  const list = await producer.ask('GET', '/v1/runs?status=rejected&label=team=a');
  assert.deepEqual(
    z
      .object({ runs: z.array(z.object({ run: z.string() }).loose()) })
      .parse(await list.json())
      .runs.map((row) => row.run),
    [run],
  );
});

test('a content type is the same in capitals, and another one than the route takes is 415', async () => {
  const submitAs = (type: string) =>
    producer.ask('POST', '/v1/runs', { body: '{}', headers: { 'content-type': type } }).then(({ status }) => status);
  assert.equal(await submitAs('Application/JSON; Charset=UTF-8'), 400);
  for (const type of ['text/plain', 'application/octet-stream', 'Application/Octet-Stream'])
    assert.equal(await submitAs(type), 415, type);
});
