import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { RunBeat } from '@hotcell/contract/heartbeats.ts';
import { Capacity } from '@hotcell/executor-worker/pull/capacity.ts';
import { takeRoom } from '@hotcell/executor-worker/pull/room.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { testLimits } from '../../../support/limits.ts';

type Given = Parameters<typeof takeRoom>;
const mib = 1024 ** 2;
const never = new AbortController().signal;
const stage = {
  ticket: { queue: 'runc' },
  effective: { runtime: 'runc', limits: { ...testLimits, cpus: 1, memoryBytes: 64 * mib } },
} as unknown as Given[1];

/** A worker of two cores, what it reports, and a run that may be stopped. */
function host({ ready = async () => {} }: { ready?: () => Promise<void> } = {}) {
  const told: RunBeat['waiting'][] = [];
  const ends = new AbortController();
  const capacity = new Capacity({ cpus: 2, memoryBytes: 512 * mib, runs: 8 }, () => {});
  const worker = {
    ...{ name: 'w', capacity, log: openLog('test', 'silent'), passOn: () => {}, steps: { ready }, runs: new Map() },
    live: { workers: { all: async () => [] } },
  } as unknown as Given[0];
  const control = {
    ...{ beat: { run: 'r' }, stop: ends.signal, hasTicket: true },
    keepTelling: () => new DisposableStack(),
    tell: async (_status: string, waiting: RunBeat['waiting']) => void told.push(waiting),
  };
  const holdings: Given[3] = { room: undefined };
  const take = () => takeRoom(worker, stage, control as unknown as Given[2], holdings);
  return { take, capacity, told, control, holdings, ends };
}

test('a run that fits takes its room and says nothing', async () => {
  const { take, capacity, told, holdings } = host();
  assert.equal(await take(), undefined);
  assert.deepEqual([capacity.used.runs, capacity.used.cpus, told], [1, 1, []]);
  holdings.room?.[Symbol.dispose]();
  assert.equal(capacity.used.runs, 0);
});

test('a run that has to wait says why, and begins when there is room', async () => {
  const { take, capacity, told } = host();
  const other = await capacity.take({ cpus: 2, memoryBytes: mib }, never);
  const waits = take();
  other[Symbol.dispose]();
  assert.equal(await waits, undefined);
  assert.deepEqual(
    told.map((waiting) => waiting?.code),
    ['no_room'],
  );
});

test('a run that never fits here goes back for later, and takes nothing', async () => {
  const { take, capacity, told } = host();
  using _ = await capacity.take({ cpus: 0.1, memoryBytes: mib }, never);
  Object.assign(capacity.total, { memoryBytes: mib });
  assert.equal((await take())?.kind, 'later');
  assert.deepEqual([capacity.used.runs, told[0]?.code], [1, 'too_big']);
});

test('a run that is stopped while it waits leaves the line', async () => {
  const { take, capacity, ends } = host();
  using _ = await capacity.take({ cpus: 2, memoryBytes: mib }, never);
  const waits = take();
  ends.abort(new Error('stopped'));
  await assert.rejects(waits, /stopped/);
  assert.equal(capacity.used.runs, 1);
});

test('a worker that lost the ticket while it waited does not begin', async () => {
  const { take, control } = host();
  control.hasTicket = false;
  assert.equal((await take())?.kind, 'later');
});

test('without an engine nothing begins, and the run says so; any other failure is one', async () => {
  const away = host({ ready: () => Promise.reject(new HotcellError('engine_unavailable', 'no socket')) });
  assert.equal((await away.take())?.kind, 'later');
  assert.deepEqual(
    away.told.map((waiting) => waiting?.code),
    ['engine_unavailable'],
  );
  await assert.rejects(host({ ready: () => Promise.reject(new Error('broken')) }).take(), /broken/);
});
