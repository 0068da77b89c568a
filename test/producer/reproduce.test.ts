import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { RunId } from '@hotcell/contract/names.ts';
import { findSpec } from '@hotcell/record/run-spec.ts';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import { freezeTree } from '../support/freezing.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { settled } from '../support/promise.ts';
import { until } from '../support/until.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;
let folder: string;
const posted: string[] = [];

/** A policy of the operator's, under which nothing runs here: only what is asked counts. */
const write = (name: string, seconds: number) =>
  writeFile(
    join(folder, `${name}.yaml`),
    `limits: { timeoutSeconds: ${seconds} }\ninputs: { count: 1, bytes: 1MiB, files: 10 }\noutputs: { publish: ['*'] }\n`,
  );

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  folder = await bed.folder('policies');
  for (const name of ['kept', 'changed', 'gone', 'revoked']) await write(name, 10);
  producer = await startProducer(bed, house, { HOTCELL_POLICIES: folder });
});
after(async () => {
  for (const run of posted) await producer.ask('POST', `/v1/runs/${run}/cancel`);
  await settled(house, posted);
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

async function post(path: string, body: unknown): Promise<string> {
  const answer = await producer.ask('POST', path, { body: JSON.stringify(body) });
  const text = await answer.text();
  assert.equal(answer.status, 202, text);
  const { run } = z.looseObject({ run: RunId }).parse(JSON.parse(text));
  posted.push(run);
  return run;
}

async function problemOf(run: string, body: unknown = { exactly: true }): Promise<string> {
  const answer = await producer.ask('POST', `/v1/runs/${run}/rerun`, { body: JSON.stringify(body) });
  const text = await answer.text();
  if (answer.status === 202) posted.push(z.looseObject({ run: RunId }).parse(JSON.parse(text)).run);
  return `${answer.status} ${text}`;
}

const specOf = async (run: string) => (await findSpec(house.producer.store, house.tenant, run))?.spec;
const blocks = [{ language: 'python', code: 'print(1)' }];

test('a run is repeated exactly under the same policy, image and snapshots; the repetition names it and publishes nothing', async () => {
  const { snapshot } = await freezeTree(house, house.tenant, { 'in.txt': 'x' });
  const asked = { policy: 'kept', blocks, inputs: { data: snapshot }, publish: 'daily', labels: { team: 'a' } };
  const first = await post('/v1/runs', asked);
  const again = await post(`/v1/runs/${first}/rerun`, { exactly: true });
  const [before, after] = [await specOf(first), await specOf(again)];
  for (const name of ['policy', 'image', 'blocks', 'params', 'limits', 'env', 'runtime'] as const)
    assert.deepEqual(after?.[name], before?.[name], name);
  assert.equal(after?.inputs[0]?.snapshot, snapshot);
  assert.deepEqual([before?.publish, after?.publish], ['daily', undefined]);
  assert.deepEqual(after?.labels, { team: 'a', 'reproduction-of': first });
  assert.match(await problemOf(first, { exactly: true, params: { x: 1 } }), /^400 .*exactly, or with other inputs/);
});

test('a run is not repeated exactly under a policy that was changed, is gone or was revoked, and the answer says which', async () => {
  const runs: Record<string, string> = {};
  for (const name of ['changed', 'gone', 'revoked']) runs[name] = await post('/v1/runs', { policy: name, blocks });
  const revoked = (await specOf(runs['revoked'] ?? ''))?.policy.digest;
  const key = await producer.key('admin', 'default');
  const body = JSON.stringify({ reason: 'too much' });
  const answer = await producer.ask('POST', `/v1/policies/${revoked}/revoke`, { key, body });
  assert.ok(answer.status < 300, await answer.text());
  await write('changed', 20);
  await rm(join(folder, 'gone.yaml'));
  const said = async (name: string, message: RegExp) =>
    await until(`${name} says so`, async () => message.test(await problemOf(runs[name] ?? '')));
  await said(
    'changed',
    /^422 .*The policy changed was changed since: .* was judged by sha256:\w+, and today it is sha256:\w+/,
  );
  await said('gone', /^422 .*gone/);
  await said('revoked', /^422 .*revoked/);
});
