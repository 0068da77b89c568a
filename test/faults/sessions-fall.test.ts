import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { Hotcell, Session } from '@hotcell/client/index.ts';
import { readSession } from '@hotcell/record/session-steps.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { oneSignedResult } from '../support/one-signed-result.ts';
import { openOwnKeeper, type OwnKeeper } from '../support/own-keeper.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { keysOf } from '../support/promise.ts';
import { spawnWorker } from '../support/real-worker.ts';
import { verdictsOf } from '../support/verified.ts';
import { crashAt, fallen } from './falling.ts';

/** Sessions whose worker or producer dies: each ends in one result, and none of its steps is executed twice. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let hotcell: Hotcell;
let keeper: OwnKeeper;
let stateDir: string;
const runs: string[] = [];

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  hotcell = await producer.client();
  stateDir = await bed.folder('falling-worker');
  keeper = await openOwnKeeper(bed, join(stateDir, 'cache'), house.id);
});
after(async () => {
  await keeper?.[Symbol.asyncDispose]();
  await house?.[Symbol.asyncDispose]();
  await bed?.[Symbol.asyncDispose]();
});

/** One host's worker, started again and again. */
const start = (env: Record<string, string> = {}): Promise<Child> =>
  spawnWorker(bed, house, 'one', {
    HOTCELL_STATE_DIR: stateDir,
    HOTCELL_CELLS: 'keeper',
    HOTCELL_KEEPER_SOCKET: keeper.socket,
    ...env,
  });

async function begin(): Promise<Session> {
  const session = await hotcell.session({ policy: 'sealed' });
  runs.push(session.id);
  return session;
}

const adds = { language: 'bash', code: 'echo once >> /outputs/ran; cat /outputs/ran' };
/** It ends with its cell. */
const stays = { language: 'bash', code: 'echo on; sleep infinity' };

async function runsOn(session: Session): Promise<void> {
  const { index } = await session.begin(stays);
  for await (const row of session.logs()) if (row.block === index) return;
}

const outcomesOf = ({ steps = [] }: Awaited<ReturnType<Session['result']>>) => steps.map(({ outcome }) => outcome);

async function stopped(worker: Child): Promise<void> {
  worker.kill('SIGTERM');
  assert.equal((await worker.ended).code, 0);
}

/** How a worker falls that has the session, and how its steps have ended then: null for one that never began. */
const falls: Readonly<Record<string, { outcomes: (string | null)[]; kill?: (session: Session) => Promise<void> }>> = {
  'session.begun': { outcomes: ['lost', null] },
  'session.step': { outcomes: ['lost', null] },
  'session.ran': { outcomes: ['lost', null] },
  // The record can't tell whether it had begun.
  'session.kept': { outcomes: ['succeeded', 'lost'] },
  'between two steps': {
    outcomes: ['succeeded', 'succeeded', 'lost'],
    kill: async (session) => {
      for (const index of [0, 1]) assert.equal((await session.stepEnd(index)).outcome, 'succeeded');
    },
  },
  'while a step runs': { outcomes: ['succeeded', 'succeeded', 'lost', null], kill: runsOn },
};

async function fall(how: string): Promise<Session> {
  const { kill } = falls[how] ?? assert.fail(how);
  await using victim = await start(kill ? {} : crashAt(how, 'kill'));
  const session = await begin();
  for (const step of [adds, adds]) await session.begin(step);
  if (kill === undefined) {
    await fallen(victim, how, 'kill');
    return session;
  }
  await kill(session);
  victim.kill('SIGKILL');
  assert.equal((await victim.ended).signal, 'SIGKILL');
  await session.begin(adds);
  return session;
}

/** The results of its steps stand under the claim that began the session, one for each step that ended. */
async function assertKeptOnce({ id }: Session, outcomes: readonly (string | null)[]): Promise<void> {
  const { store, tenant } = house;
  const session = (await readSession(store, tenant, id)) ?? assert.fail(`${id} was not begun`);
  assert.equal(session.attempt, 1);
  const ended = outcomes.flatMap((outcome, index) => (outcome === 'succeeded' ? [index] : []));
  const kept = (await keysOf(store, store.record, recordKeys.run(tenant, id))).filter((key) =>
    /\/results\/\d+\.json$/.test(key),
  );
  assert.deepEqual(
    kept,
    ended.map((index) => recordKeys.stepResult(tenant, id, session, index)),
  );
}

suite('a session', () => {
  test('runs a step once, although its producer is killed before it tells the worker', async () => {
    await using worker = await start();
    const session = await begin();
    assert.equal((await session.step(adds)).stdout, 'once\n');
    await using victim = await startProducer(bed, house, crashAt('step.recorded', 'kill'));
    const asked = { headers: { 'idempotency-key': 'asked-twice' }, body: JSON.stringify(adds) };
    const path = `/v1/runs/${session.id}/steps`;
    const unanswered = assert.rejects(victim.ask('POST', path, asked));
    await fallen(victim.child, 'step.recorded', 'kill');
    await unanswered;
    assert.equal((await session.stepEnd(1)).stdout, 'once\nonce\n');
    const again = (await (await producer.ask('POST', path, asked)).json()) as { index: number };
    assert.equal(again.index, 1);
    assert.equal((await session.step(adds)).index, 2);
    const result = await session.finish();
    assert.deepEqual(outcomesOf(result), ['succeeded', 'succeeded', 'succeeded']);
    assert.equal((await session.bytes('ran')).toString(), 'once\nonce\nonce\n');
    await stopped(worker);
  });

  test('is finished, although its producer is killed before it tells the worker, and asked again', async () => {
    await using worker = await start();
    const session = await begin();
    await session.step(adds);
    await using victim = await startProducer(bed, house, crashAt('step.recorded', 'kill'));
    const unanswered = assert.rejects((await victim.client()).sessionById(session.id).finish());
    await fallen(victim.child, 'step.recorded', 'kill');
    await unanswered;
    assert.equal((await session.finish()).outcome, 'succeeded');
    await stopped(worker);
  });

  test('is lost with its worker that is stopped, unless none of its steps has begun', async () => {
    const worker = await start();
    const [ran, idle, fresh] = [await begin(), await begin(), await begin()];
    await Promise.all([ran.step(adds), idle.step(adds)]);
    await runsOn(ran);
    await stopped(worker);
    const [lost, waited] = await Promise.all([ran.result(), idle.result()]);
    assert.deepEqual([lost.outcome, outcomesOf(lost)], ['lost', ['succeeded', 'lost']]);
    assert.deepEqual([waited.outcome, outcomesOf(waited)], ['lost', ['succeeded']]);
    for (const { reason } of [lost, waited])
      assert.match(reason, /Worker one was stopped\. What the finished steps left/);
    await using next = await start();
    assert.equal((await fresh.step(adds)).stdout, 'once\n');
    assert.equal((await fresh.finish()).outcome, 'succeeded');
    await stopped(next);
  });

  test('is lost with its worker that is killed, keeps every finished step, and is never run again', async () => {
    const sessions = new Map<string, Session>();
    // A later victim may end the session of one before it.
    for (const how of Object.keys(falls)) sessions.set(how, await fall(how));
    // This one makes no cell: it would die.
    await using rescuer = await start(crashAt('worker.sealed', 'kill'));
    for (const [how, session] of sessions) {
      const { outcomes } = falls[how] ?? assert.fail(how);
      const result = await session.result();
      assert.deepEqual([result.outcome, outcomesOf(result)], ['lost', outcomes], `${how}: ${result.reason}`);
      assert.match(result.reason, /A session is never run again/);
      const views = await Promise.all(outcomes.map((_, index) => session.stepEnd(index)));
      assert.deepEqual(
        views.map(({ outcome }) => outcome),
        outcomes,
        how,
      );
      await assertKeptOnce(session, outcomes);
    }
    await stopped(rescuer);
  });

  test('has one signed result, which verifies', async () => {
    await settle(house, producer);
    for (const run of runs) await oneSignedResult(house, run);
    const verdicts = await verdictsOf(house);
    assert.deepEqual(
      runs.map((run) => [verdicts.get(run)?.verdict, verdicts.get(run)?.findings]),
      runs.map(() => ['VALID', []]),
    );
  });
});
