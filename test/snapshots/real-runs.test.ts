import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { freezeTree } from '../support/freezing.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { resultOf } from '../support/promise.ts';
import { spawnWorker } from '../support/real-worker.ts';

/** Snapshots in real runs: submitted over HTTP, staged by a worker process, read in a sealed cell. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let worker: Child;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  worker = await spawnWorker(bed, house, 'one', { HOTCELL_QUEUES: 'runc,gvisor' });
});
after(async () => {
  await settle(house, producer);
  await worker.stop();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

async function finished(request: {
  code: string;
  inputs?: Record<string, string>;
  publish?: string;
  policy?: string;
}): Promise<Result> {
  const { code, ...rest } = request;
  const answer = await producer.ask('POST', '/v1/runs', {
    body: JSON.stringify({ blocks: [{ language: 'python', code }], ...rest }),
  });
  const text = await answer.text();
  assert.equal(answer.status, 202, text);
  return await resultOf(house, (JSON.parse(text) as { run: string }).run, 180_000);
}

async function contentVersions(): Promise<string[]> {
  const found: string[] = [];
  for await (const { key, versionId } of house.store.listVersions(house.store.record, `cas/${house.tenant}/`))
    found.push(`${key} ${versionId}`);
  return found;
}

async function logOf(run: string): Promise<string> {
  const text = await (await producer.ask('GET', `/v1/runs/${run}/logs`)).text();
  const rows = text.trim().split('\n');
  return rows.map((row) => (JSON.parse(row) as { text?: string }).text ?? '').join('');
}

test('a run reads another run’s outputs, by its id or by a published name, without copying them', async () => {
  const code =
    "open('/outputs/clean.csv','w').write('a,b')\nimport os; os.mkdir('/outputs/d'); open('/outputs/d/e','w').write('deep')";
  const first = await finished({ code, publish: 'clean' });
  assert.equal(first.outcome, 'succeeded', first.reason);
  const contents = await contentVersions();
  assert.equal(contents.length, 2);
  const read = [
    'import os, json',
    "for name in ('byrun', 'byname'):",
    "    for folder, _, files in sorted(os.walk('/inputs/' + name)):",
    '        for one in files: print(os.path.join(folder, one), open(os.path.join(folder, one)).read())',
  ].join('\n');
  const second = await finished({ code: read, inputs: { byrun: `${first.run}:outputs`, byname: 'clean' } });
  assert.equal(second.outcome, 'succeeded', second.reason);
  assert.deepEqual(
    (await logOf(second.run)).trim().split('\n'),
    ['byrun', 'byname'].flatMap((name) => [`/inputs/${name}/clean.csv a,b`, `/inputs/${name}/d/e deep`]),
  );
  assert.deepEqual(
    second.inputs.map(({ name, snapshot }) => [name, snapshot]).toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    ['byname', 'byrun'].map((name) => [name, first.outputs.snapshot]),
  );
  assert.deepEqual(await contentVersions(), contents);
});

for (const policy of ['sealed', 'hostile-gvisor'])
  test(`bytes changed after the freeze are found before any code runs, under ${policy}`, async () => {
    const text = `as frozen for ${policy}`;
    const { snapshot } = await freezeTree(house, house.tenant, { 'sound.csv': 'sound', 'bent.csv': text });
    const code = "print(open('/inputs/in/bent.csv').read())";
    const control = await finished({ code, inputs: { in: snapshot }, policy });
    assert.equal(control.outcome, 'succeeded', control.reason);
    // The same snapshot would come from the worker's cache, where its bytes are unchanged.
    const again = await freezeTree(house, house.tenant, { 'bent.csv': `${text}, again` });
    await house.store.put(house.store.record, recordKeys.cas(house.tenant, sha256(`${text}, again`)), `${text}, Again`);
    const result = await finished({ code, inputs: { in: again.snapshot }, policy });
    assert.equal(result.outcome, 'lost', result.reason);
    assert.match(result.reason, /bent\.csv .*does not have the bytes that were frozen/);
    assert.equal(result.logs.bytes, 0);
    assert.deepEqual(
      result.blocks.filter((block) => block.startedAt !== null),
      [],
    );
  });
