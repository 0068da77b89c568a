import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { longCalls } from '@hotcell/record/long-calls.ts';
import { putSnapshot } from '@hotcell/record/snapshot-store.ts';
import { manifestOf } from '@hotcell/contract/snapshot.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { cpuMicros } from '../support/stall.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  const NODE_OPTIONS = `--import=${resolve(import.meta.dirname, '../support/stall-watch.ts')}`;
  producer = await startProducer(bed, house, { NODE_OPTIONS });
});
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const files = Array.from({ length: 100_000 }, (_, i) => ({
  path: `folder/file-${i}`,
  size: i,
  sha256: sha256(`${i}`),
}));

/** How long the producer's event loop stood still at most since the last time it was asked. */
async function stalled({ child }: RunningProducer): Promise<number> {
  const said = child.said().length;
  child.kill('SIGUSR2');
  for (;;) {
    const found = /\{"stalled":(\d+)\}/.exec(child.said().slice(said));
    if (found) return Number(found[1]);
    await new Promise((done) => child.process.stderr?.once('data', done));
  }
}

function cpuOf(work: () => unknown): number {
  const begun = cpuMicros();
  work();
  return cpuMicros() - begun;
}

/** The least of some tries, since a collection of garbage may come into any. */
async function leastStall(ask: () => Promise<void>): Promise<number> {
  const tries: number[] = [];
  for (let i = 0; i < 3; i++) {
    await stalled(producer);
    await ask();
    tries.push(await stalled(producer));
  }
  return Math.min(...tries);
}

test('the event loop goes on while a tenant gets and compares manifests of 100,000 files', async () => {
  const { snapshot } = await putSnapshot(house.store, house.tenant, files);
  const { text, id } = manifestOf(files);
  assert.equal(id, snapshot);
  const here = cpuOf(() => longCalls.entriesJson(Buffer.from(text), id));
  for (const path of [snapshot, `${snapshot}/diff/${snapshot}`]) {
    const least = await leastStall(async () => {
      const answer = await producer.ask('GET', `/v1/snapshots/${path}`);
      assert.equal(answer.status, 200);
      const body = await answer.text();
      if (path === snapshot) assert.ok(body.includes(files.at(-1)?.sha256 ?? ''));
    });
    assert.ok(least < here / 3, `${path}: it stood still for ${least} µs of CPU; to read the manifest takes ${here}`);
  }
});

test('the event loop goes on while a tenant submits as much code as a policy allows', async () => {
  const block = { language: 'bash', code: ': print a\n'.repeat(410_000) };
  const request = { blocks: Array.from({ length: 7 }, () => block) };
  const body = JSON.stringify(request);
  const here = cpuOf(() => longCalls.canonical(JSON.parse(body)));
  let key = 0;
  const least = await leastStall(async () => {
    const headers = { 'idempotency-key': `key-${key++}` };
    const answer = await producer.ask('POST', '/v1/runs', { body, headers });
    assert.equal(answer.status, 202, await answer.text());
  });
  assert.ok(least < here / 2, `it stood still for ${least} µs of CPU; to parse and hash it takes ${here}`);
});
