import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRow } from '@hotcell/contract/api/runs.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import { listRuns } from '@hotcell/producer/list-runs.ts';
import type { Change } from '@hotcell/producer/readmodel/run-changes.ts';
import { emptyResult } from '@hotcell/record/empty-result.ts';

type Deps = Parameters<typeof listRuns>[0];
const at = '2026-01-01T00:00:00.000Z';
const row = (more: Partial<RunRow> = {}): RunRow => ({
  ...{ run: newRunId(), tenant: 't', name: 'mine', status: 'finished', outcome: 'failed', reason: 'it failed' },
  ...{ exitCode: 1, policy: 'sealed', queue: null, requester: 'k', labels: {}, inputs: [], acceptedAt: at },
  ...{ finishedAt: at, ...more },
});
const full = { tail: Date.parse(at), day: null, behind: false };

/** A producer whose lists have these rows, and whose record has a result of every run in `ended`. */
function deps(rows: RunRow[], { ended = [] as string[], away = false, progress = full } = {}) {
  const read: string[] = [];
  const noted: Change[] = [];
  const given = {
    follower: { progressOf: async () => progress },
    model: { list: async () => rows, note: (change: Change) => noted.push(change) },
    news: {
      resultOf: async (tenant: string, run: RunRow['run']) => {
        read.push(run);
        if (!ended.includes(run)) return undefined;
        const ending = { outcome: 'lost', reason: 'why', errors: [] } as const;
        return emptyResult({ run, tenant, spec: sha256('') }, undefined, ending, new Date(at));
      },
    },
    store: {},
    live: { workers: { all: async () => [] }, statusesOf: async (runs: string[]) => runs.map(() => undefined) },
    queues: {
      of: () => ({
        places: async (runs: string[]) => {
          if (away) throw new HotcellError('queue_unavailable', 'away');
          return runs.map((_, before) => ({ at: 'waiting', before }));
        },
      }),
    },
  };
  return { given: given as unknown as Deps, read, noted };
}

test('only runs whose end is known from a message alone are read, and shown as their result says', async () => {
  const [told, whole, open] = [row({ reason: '' }), row(), row({ status: 'running', reason: '', outcome: null })];
  const { given, read, noted } = deps([told, whole, open], { ended: [told.run] });
  const { runs } = await listRuns(given, 't', { limit: 10 });
  assert.deepEqual(read, [told.run]);
  assert.deepEqual(
    runs.map(({ run, reason, outcome }) => [run, reason, outcome]),
    [
      [told.run, 'why', 'lost'],
      [whole.run, 'it failed', 'failed'],
      [open.run, '', null],
    ],
  );
  assert.equal(runs[0]?.name, 'mine', 'the name that it was listed under stays');
  assert.equal(noted.length, 1, 'the next list has it without a read');
});

test('a run whose result cannot be found is shown as it was listed', async () => {
  const told = row({ reason: '' });
  const { given, noted } = deps([told]);
  assert.deepEqual((await listRuns(given, 't', { limit: 10 })).runs, [told]);
  assert.equal(noted.length, 0);
});

test('a full page says where the next one begins, and the last page does not', async () => {
  const rows = [row(), row(), row()];
  const { given } = deps(rows);
  assert.equal((await listRuns(given, 't', { limit: 3 })).next, rows[2]?.run);
  assert.equal((await listRuns(given, 't', { limit: 4 })).next, null);
  assert.equal((await listRuns(deps([]).given, 't', { limit: 1 })).next, null);
});

test('runs that wait say why, and without a queue that it does not answer', async () => {
  const waits = row({ status: 'queued', queue: 'runc', outcome: null });
  const begun = row({ status: 'staging', queue: 'runc', outcome: null });
  const codes = async (away: boolean) =>
    (await listRuns(deps([waits, begun], { away }).given, 't', { limit: 9 })).runs.map((one) => one.waiting?.code);
  assert.deepEqual(await codes(false), ['no_worker', undefined]);
  assert.deepEqual(await codes(true), ['queue_unavailable', undefined]);
});

test('a list says what it may be missing, and a whole one says nothing', async () => {
  const whole = await listRuns(deps([row()]).given, 't', { limit: 9 });
  assert.equal('incomplete' in whole, false);
  const behind = await listRuns(deps([row()], { progress: { ...full, behind: true } }).given, 't', { limit: 9 });
  assert.match(behind.incomplete ?? '', /may be missing/);
});
