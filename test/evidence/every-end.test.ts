import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Outcome } from '@hotcell/contract/outcomes.ts';
import type { Result } from '@hotcell/contract/result.ts';
import { accept } from '@hotcell/producer/accept.ts';
import { claimNext } from '@hotcell/record/claim.ts';
import { readHistory } from '@hotcell/record/attempt-history.ts';
import { readResult } from '@hotcell/record/commit.ts';
import { FolderReader } from '@hotcell/record/verify/folder-reader.ts';
import type { Hotcell } from '@hotcell/client/index.ts';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { resultOf, running } from '../support/promise.ts';
import { pinPolicy, spawnWorker } from '../support/real-worker.ts';
import { specFor } from '../support/spec.ts';
import { copyOf, verdictsOf } from '../support/verified.ts';
import { refusedRun } from './refused-run.ts';

/** Runs as in production: submitted over HTTP, executed in sealed cells, verified with nothing but the root's key. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let client: Hotcell;
let worker: Child | undefined;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  client = await producer.client('submitter');
});
after(async () => {
  await settle(house, producer);
  await worker?.stop();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const python = (code: string) => ({ blocks: [{ language: 'python', code }] });

async function refused(): Promise<Result> {
  const result = await readResult(house.store, house.tenant, await refusedRun(client));
  assert.ok(result);
  return result;
}

async function cancelledBeforeItsStart(): Promise<Result> {
  const run = await client.submit({ ...python('print(1)'), notBefore: new Date(Date.now() + 3_600_000).toISOString() });
  await run.cancel('not needed');
  return await run.result();
}

/** Three workers died with it. */
async function givenUp(): Promise<Result> {
  const real = await pinPolicy(bed, house, 'sealed');
  const spec = { ...specFor(house.tenant, ''), ...real.spec, ...python('print(1)') };
  const notBefore = new Date(Date.now() + 2_000).toISOString();
  const { run } = await accept(house.producer, { spec: { ...spec, notBefore }, queue: real.queue });
  for (let attempt = 0; attempt < 3; attempt++) {
    const history = await readHistory(house.store, house.tenant, run);
    await claimNext(house.store, { tenant: house.tenant, run }, `dead-${attempt}`, history);
  }
  house.reconciler();
  return await resultOf(house, run, 120_000);
}

/** Past the producer: the worker judges for itself. */
async function refusedByWorker(): Promise<Result> {
  const real = await pinPolicy(bed, house, 'sealed');
  const spec = {
    ...specFor(house.tenant, ''),
    ...real.spec,
    ...python('print(1)'),
    limits: { timeoutSeconds: 600_000 },
  };
  const { run } = await accept(house.producer, { spec, queue: real.queue });
  return await resultOf(house, run, 120_000);
}

async function cancelledWhileItRuns(): Promise<Result> {
  const run = await client.submit(python('import time\nprint("here", flush=True)\ntime.sleep(1000)'));
  await running(house, run.id);
  await run.cancel('enough');
  return await run.result();
}

const ran = async (request: Parameters<Hotcell['submit']>[0]) => await (await client.submit(request)).result();

test('a run of every outcome verifies, from the store and from a copy, and its statement says how it ended', async () => {
  const before = await cancelledBeforeItsStart();
  worker = await spawnWorker(bed, house, 'one', { HOTCELL_QUEUES: 'runc,gvisor' });
  const first = await ran({
    ...python('import os\nos.mkdir("/outputs/d")\nopen("/outputs/d/e", "w").write("deep")\nprint("é")'),
    files: [{ path: 'a/b.txt', text: 'b' }],
    params: { x: [1, { y: 'z' }] },
    labels: { team: 'finance' },
    publish: 'first',
  });
  const ends: Record<string, Result> = {
    first,
    before,
    second: await ran({ ...python('print(open("/inputs/in/d/e").read())'), inputs: { in: `${first.run}:outputs` } }),
    failed: await ran({ ...python('raise SystemExit(3)'), retry: { on: ['failed'], max: 1 } }),
    late: await ran({ ...python('import time\ntime.sleep(1000)'), limits: { timeoutSeconds: 1 } }),
    large: await ran({
      ...python('held = []\nwhile True: held.append(bytearray(b"x" * (4 << 20)))'),
      limits: { memoryBytes: 64 * 2 ** 20 },
    }),
    much: await ran({ ...python('open("/outputs/a", "wb").write(bytes(2000))'), limits: { outputBytes: 1000 } }),
    sentry: await ran({ ...python('print(1)'), policy: 'hostile-gvisor' }),
    refused: await refused(),
    unfit: await refusedByWorker(),
    cancelled: await cancelledWhileItRuns(),
    lost: await givenUp(),
  };
  const outcomes: Record<string, Outcome> = {
    ...{ first: 'succeeded', before: 'cancelled', second: 'succeeded', failed: 'failed', late: 'timed_out' },
    ...{ large: 'out_of_memory', much: 'output_exceeded', sentry: 'succeeded', refused: 'rejected' },
    ...{ unfit: 'rejected', cancelled: 'cancelled', lost: 'lost' },
  };
  for (const [name, { outcome, reason }] of Object.entries(ends))
    assert.equal(outcome, outcomes[name], `${name}: ${reason}`);
  for (const reader of [undefined, new FolderReader(await copyOf(bed, house))]) {
    const verdicts = await verdictsOf(house, reader);
    for (const [name, { run, outcome }] of Object.entries(ends)) {
      const verdict = verdicts.get(run);
      assert.deepEqual([verdict?.verdict, verdict?.findings, verdict?.outcome], ['VALID', [], outcome], name);
    }
    assert.equal(verdicts.size, Object.keys(ends).length);
    // Its first attempt failed as well, and says so over its worker's signature.
    const failedFirst = [{ attempt: 1, worker: 'one', ended: 'failed', isSigned: true }];
    assert.deepEqual(verdicts.get(ends['failed']?.run ?? '')?.attempts, failedFirst);
  }
});
