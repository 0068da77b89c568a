import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { setImmediate as breathe } from 'node:timers/promises';
import { test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { languages } from '@hotcell/contract/languages.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { Cell, type Proof } from '@hotcell/executor-worker/cell/cell.ts';
import type { MadeCell } from '@hotcell/executor-worker/cell/cell-maker.ts';
import type { CellDeps } from '@hotcell/executor-worker/cell/deps.ts';
import type { CellFrame } from '@hotcell/executor-worker/cell/frames/decode.ts';
import { encodeFrame } from '@hotcell/executor-worker/cell/frames/encode.ts';
import { usualPatrolTimes } from '@hotcell/executor-worker/cell/patrol.ts';
import type { CellEvent } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import { StuckCells } from '@hotcell/executor-worker/cell/stuck-cells.ts';
import { Talk } from '@hotcell/executor-worker/cell/talk.ts';
import { jobFrames, prepareJob } from '@hotcell/executor-worker/execute/job.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { testLimits } from '../../../support/limits.ts';
import { cellBytes } from './frames/build.ts';

const job = prepareJob({ blocks: [{ argv: ['true'] }], files: [] }, languages);
const before: CellFrame[] = [
  { type: 'ready', version: 1, machine: 'x86_64' },
  { type: 'posture', record: { key: 'cwd', path: '/work' } },
  { type: 'postureEnd', nonce: Buffer.alloc(32), records: 1 },
];
const began: CellFrame = { type: 'blockStarted', index: 0, program: 0, atUs: 1_000 };
const log = openLog('test', 'silent');

/** A cell that has shown its posture, and says what the test has it say until `hangUp`. */
async function sealed(more: Partial<MadeCell> = {}) {
  const input = new PassThrough();
  const said = Promise.withResolvers<void>();
  const frames: CellFrame[] = [];
  const closed = { times: 0 };
  const output = (async function* () {
    for (const frame of before) yield { stream: 'stdout' as const, bytes: cellBytes(frame) };
    await said.promise;
    for (const frame of frames) yield { stream: 'stdout' as const, bytes: cellBytes(frame) };
  })();
  const close = () => void closed.times++;
  const talk = new Talk({ input, output, close });
  for (const _ of before) await talk.next();
  const plan = {
    ...{ run: newRunId(), attempt: 1, runtime: 'runc', limits: testLimits },
    log: { headBytes: 1, tailBytes: 1, pastLimit: 'truncate' },
  };
  const calls: string[] = [];
  const made = {
    ...{ id: 'c1', name: 'hotcell-c1', plan },
    ended: async () => 137,
    killedForMemory: async () => false,
    kill: async () => void calls.push('kill'),
    remove: async () => {
      calls.push('remove');
      return true;
    },
    ...more,
  } as unknown as MadeCell;
  const own = new Map([['c1', undefined]]);
  const deps = {
    ...{ ownCells: own, stuck: new StuckCells(), patrolTimes: usualPatrolTimes, log },
    cores: { giveBack: () => calls.push('cores') },
  } as unknown as CellDeps;
  const left: Promise<void>[] = [];
  const cell = new Cell(made, talk, {} as Proof, deps, (gone) => left.push(gone));
  const hangUp = (...last: CellFrame[]) => {
    frames.push(...last);
    said.resolve();
  };
  const written = () => (input.read() as Buffer | null) ?? Buffer.alloc(0);
  return { cell, made, hangUp, written, closed, calls, own, left };
}
const all = (events: AsyncGenerator<CellEvent>) => Array.fromAsync(events);
const types = (events: readonly CellEvent[]) => events.map(({ type }) => type);
const startAndKill = Buffer.concat([
  encodeFrame({ type: 'start' }),
  encodeFrame({ type: 'kill', reason: 'cancelled' }),
]);

test('a job is handed over whole, and a cell takes one job only', async () => {
  const { cell, made, hangUp, written, closed } = await sealed();
  const events = all(cell.run(job));
  await breathe();
  assert.deepEqual(written(), Buffer.concat([...jobFrames(made.plan, job)].map(encodeFrame)));
  hangUp(began);
  await events;
  assert.equal(closed.times, 1, 'nothing of the conversation is left open');
  await assert.rejects(all(cell.run(job)), { code: 'cell_failed' });
});

test('a cell whose stream ends before its last word has died, as its maker and the kernel say', async () => {
  const { cell, hangUp } = await sealed({ killedForMemory: async () => 'limit' });
  const events = all(cell.run(job));
  hangUp(began);
  const [first, last] = await events;
  assert.equal(first?.type, 'block_started');
  assert.deepEqual(last, { type: 'died', exitCode: 137, engineSaysOom: 'limit', oomKills: 0 });
});

test('a connection that is lost while the cell goes on is a failure of ours', async () => {
  const { cell, hangUp } = await sealed({ ended: async () => undefined });
  const events = all(cell.run(job));
  hangUp(began);
  await assert.rejects(events, { code: 'stream_broken' });
});

test('a kill goes to init once, with its first reason', async () => {
  const { cell, hangUp, written } = await sealed();
  const events = all(cell.run(job));
  await breathe();
  written();
  cell.kill('cancelled');
  cell.kill('draining');
  await breathe();
  assert.deepEqual(written(), encodeFrame({ type: 'kill', reason: 'cancelled' }));
  hangUp();
  await events;
});

test('a kill before the start comes right behind it', async () => {
  const { cell, hangUp, written } = await sealed();
  cell.kill('cancelled');
  const events = all(cell.run(job));
  await breathe();
  assert.ok(written().subarray(-startAndKill.length).equals(startAndKill));
  hangUp();
  assert.deepEqual(types(await events), ['died']);
});

test('a cell is destroyed once, and its place is given back behind it', async () => {
  const { cell, calls, own, left, closed } = await sealed();
  await Promise.all([cell.destroy(), cell.destroy()]);
  assert.deepEqual(calls, ['remove', 'cores']);
  assert.deepEqual([own.size, left.length], [0, 0]);
  assert.ok(closed.times > 0);
});

test('a job whose cell is destroyed under it ends as a failure, not as the job’s own death', async () => {
  const { cell, hangUp } = await sealed();
  const events = all(cell.run(job));
  await breathe();
  await cell.destroy();
  hangUp();
  await assert.rejects(events, (error) => error instanceof HotcellError && error.code === 'cell_failed');
});
