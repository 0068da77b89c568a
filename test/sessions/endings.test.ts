import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hotcell, Session, Step } from '@hotcell/client/index.ts';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { problemOf } from '../support/problem.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { spawnWorker } from '../support/real-worker.ts';

/** What ends a session, and who may send it a step. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let worker: Child;
let hotcell: Hotcell;
/** It had its steps before there was a worker. */
let early: Session;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  hotcell = await producer.client();
  early = await hotcell.session({ policy: 'sealed', limits: { timeoutSeconds: 1 } });
  for (const block of [stays, adds]) await early.begin(block);
  worker = await spawnWorker(bed, house, 'one');
});
after(async () => {
  await settle(house, producer);
  await worker.stop();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const begin = (session = {}) => hotcell.session({ policy: 'sealed', session });
const adds = { language: 'bash', code: 'echo once >> /outputs/ran; cat /outputs/ran' };
const stepsOf = ({ id }: Session) => `/v1/runs/${id}/steps`;
const body = JSON.stringify(adds);
/** It ends with its cell. */
const stays = { language: 'bash', code: 'echo on; sleep infinity' };

async function runsOn(session: Session): Promise<void> {
  const { index } = await session.begin(stays);
  for await (const row of session.logs()) if (row.block === index) return;
}

/** A step that never ran is in the session's result, and its own view says why it has none. */
async function assertUnrun(session: Session, index: number): Promise<void> {
  const { steps = [], reason } = await session.result();
  const last = steps.at(-1);
  assert.deepEqual([last?.index, last?.outcome, last?.result, last?.startedAt], [index, null, null, null]);
  assert.match(last?.reason ?? '', /it did not run/);
  const view = await session.stepEnd(index);
  assert.deepEqual([view.outcome, view.reason], [null, `${last?.reason} ${reason}`]);
}

test('ends by itself when it waits too long for a step', async () => {
  const session = await begin({ idleSeconds: 1 });
  const { outcome, reason } = await session.result();
  assert.equal(outcome, 'succeeded');
  assert.match(reason, /it waited 1 s for a step\..* 0 steps ran\./);
});

test('ends with its last step, and takes none after it', async () => {
  const session = await begin({ steps: 2 });
  for (const stdout of ['once\n', 'once\nonce\n']) assert.equal((await session.step(adds)).stdout, stdout);
  const answer = await producer.ask('POST', stepsOf(session), { body });
  assert.match((await problemOf(answer)).code, /^(policy_refused|finished_already)$/);
  const { outcome, reason, steps = [] } = await session.result();
  assert.deepEqual([outcome, steps.length], ['succeeded', 2]);
  assert.match(reason, /The session had all of its 2 steps/);
});

test('is cancelled while a step runs, with what the steps before it left and those that never ran', async () => {
  const session = await begin();
  await session.step(adds);
  await runsOn(session);
  const { index } = await session.begin(adds);
  await session.cancel('enough');
  const { outcome, reason, steps = [], outputs } = await session.result();
  assert.equal(outcome, 'cancelled');
  assert.match(reason, /enough/);
  assert.deepEqual(
    steps.map((step) => step.outcome),
    ['succeeded', 'cancelled', null],
  );
  await assertUnrun(session, index);
  assert.deepEqual(
    outputs.files.map(({ path }) => path),
    ['ran'],
  );
});

test('is over after its lifetime, with the steps that it did not come to', async () => {
  const { outcome } = await early.result();
  assert.equal(outcome, 'timed_out');
  await assertUnrun(early, 1);
});

test('is cancelled before a worker takes it, with the steps that it was sent', async () => {
  // This worker serves another queue.
  const session = await hotcell.session({ policy: 'hostile-gvisor' });
  const { index } = await session.begin(adds);
  await session.cancel('too late');
  assert.equal((await session.result()).outcome, 'cancelled');
  await assertUnrun(session, index);
});

test('answers for a step that is sent again when the session has ended by itself', async () => {
  const session = await begin({ steps: 1 });
  const send = (from: RunningProducer, key: string) =>
    from.ask('POST', stepsOf(session), { body, headers: { 'idempotency-key': key, prefer: 'wait=60' } });
  assert.equal((await send(producer, 'the-last')).status, 200);
  await session.result();
  await house.clearFinished();
  await using other = await startProducer(bed, house);
  for (const one of [producer, other]) {
    const again = (await (await send(one, 'the-last')).json()) as Step;
    assert.deepEqual([again.index, again.outcome, again.stdout], [0, 'succeeded', 'once\n']);
    assert.equal((await problemOf(await send(one, 'a-new-one'))).code, 'finished_already');
  }
});

test('runs a step once that is sent again under its key, and refuses another one under it', async () => {
  await using session = await begin();
  const headers = { 'idempotency-key': 'the-first' };
  const send = (more: object = {}) =>
    producer.ask('POST', stepsOf(session), { headers, body: JSON.stringify({ ...adds, ...more }) });
  const [one, two] = await Promise.all([send(), send()]);
  const numbers = (await Promise.all([one.json(), two.json()])) as { index: number }[];
  assert.deepEqual(
    numbers.map(({ index }) => index),
    [0, 0],
  );
  assert.equal((await session.step(adds)).stdout, 'once\nonce\n');
  assert.equal((await problemOf(await send({ code: 'echo else' }))).code, 'idempotency_mismatch');
});

test('screens the code of a step, and says so before and after it ran', async () => {
  await using session = await begin();
  const begun = await session.begin({ language: 'bash', code: 'true\ncurl -s data.example; true' });
  const ended = await session.stepEnd(begun.index);
  assert.match(begun.warnings?.join() ?? '', /^line 2: This will fail: a cell has no network\..*\(network_client\)$/);
  assert.deepEqual([ended.outcome, ended.warnings], ['succeeded', begun.warnings]);
  assert.equal((await session.step(adds)).warnings, undefined);
});

test('takes steps and its end from submitters of its tenant alone', async () => {
  await using session = await begin();
  await session.step(adds);
  const stranger = await producer.key('submitter', bed.tenant());
  const reader = await producer.key('reader');
  const routes: [method: string, path: string, asReader: number][] = [
    ['POST', stepsOf(session), 403],
    ['POST', `${stepsOf(session)}/0/interrupt`, 403],
    ['POST', `/v1/runs/${session.id}/finish`, 403],
    ['GET', `${stepsOf(session)}/0`, 200],
    ['GET', `${stepsOf(session)}/0/logs`, 200],
  ];
  for (const [method, path, asReader] of routes) {
    const asked = method === 'POST' ? { body: path.endsWith('/steps') ? body : '{}' } : {};
    assert.equal((await producer.ask(method, path, { key: stranger, ...asked })).status, 404, path);
    assert.equal((await producer.ask(method, path, { key: reader, ...asked })).status, asReader, path);
  }
  assert.equal((await session.step(adds)).index, 1);
});
