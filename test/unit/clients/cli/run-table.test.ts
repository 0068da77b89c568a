import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTable } from '@hotcell/cli/run-table.ts';
import type { ListedRun } from '@hotcell/contract/api/runs.ts';

const now = Date.parse('2026-11-18T12:00:00.000Z');

const finished = {
  run: '019a9f3e-7c00-7000-8000-0000000a1f3c',
  tenant: 'default',
  name: 'transform.py',
  status: 'finished',
  outcome: 'succeeded',
  reason: 'Your code ended with exit code 0.',
  exitCode: 0,
  policy: 'analytics',
  queue: null,
  requester: 'k',
  labels: {},
  inputs: ['sales', 'rates'],
  acceptedAt: '2026-11-18T11:55:00.000Z',
  finishedAt: '2026-11-18T11:55:02.500Z',
} satisfies ListedRun;

const waiting: ListedRun = {
  ...finished,
  run: '019a9f3e-7c00-7000-8000-0000000b1f3c',
  name: null,
  status: 'queued',
  outcome: null,
  inputs: [],
  acceptedAt: '2026-11-16T09:00:00.000Z',
  finishedAt: null,
  waiting: { code: 'queued', message: 'Next in the queue runc (workers: 1).', position: 0 },
};

test('in a pipe, the list has whole ids and whole sentences', () => {
  const [heads, first, second] = runTable([finished, waiting], now, undefined).split('\n');
  assert.match(heads ?? '', /^RUN +NAME +OUTCOME +AGE +TOOK +POLICY +INPUTS +REASON$/);
  assert.equal(
    first?.replaceAll(/ {2,}/g, '|'),
    `${finished.run}|transform.py|succeeded|5 min|2.5 s|analytics|sales,rates|Your code ended with exit code 0.`,
  );
  assert.equal(
    second?.replaceAll(/ {2,}/g, '|').split('|').slice(1).join('|'),
    '-|queued|2 d|-|analytics|-|Next in the queue runc (workers: 1).',
  );
});

test('on a terminal, no line is longer than it is wide, and ids are as long as it takes to tell them apart', () => {
  for (const width of [80, 60, 40]) {
    const lines = runTable([finished, waiting], now, width).trimEnd().split('\n');
    assert.deepEqual(
      lines.filter((line) => line.length > width),
      [],
    );
    assert.match(lines[1] ?? '', /^0a1f3c  transform\.py  succeeded/);
    assert.match(lines[2] ?? '', /^0b1f3c  -  /);
  }
  const twin: ListedRun = { ...finished, run: '019a9f3e-7c00-7000-8000-0000010a1f3c' };
  assert.match(runTable([finished, twin], now, 80), /^00a1f3c .*\n?/m);
});
