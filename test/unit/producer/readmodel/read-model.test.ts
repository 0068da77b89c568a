import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newRunId } from '@hotcell/contract/names.ts';
import { nothingUsed, type Result } from '@hotcell/contract/result.ts';
import { ReadModel, type Wanted } from '@hotcell/producer/readmodel/read-model.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hotcell-read-model-'));
});
after(() => rm(folder, { recursive: true }));

const digest = `sha256:${'0'.repeat(64)}`;
const at = '2026-11-18T10:00:00.000Z';
const requester = { key: 'k', role: 'submitter' } as const;

function specOf(tenant: string, labels: Record<string, string> = {}) {
  return { run: newRunId(), tenant, policy: { name: 'sealed', digest }, requester, labels, acceptedAt: at };
}

function resultOf(spec: ReturnType<typeof specOf>, outcome: Result['outcome']): Result {
  return {
    version: 1,
    status: 'finished',
    run: spec.run,
    tenant: spec.tenant,
    outcome,
    reason: `because ${outcome}`,
    exitCode: 1,
    blocks: [],
    spec: digest,
    policy: spec.policy,
    image: null,
    runtime: null,
    inputs: [],
    labels: spec.labels,
    requester,
    limits: null,
    usage: nothingUsed,
    outputs: { snapshot: null, files: [], refused: [] },
    logs: { sha256: null, bytes: 0, truncated: false },
    posture: null,
    attempts: [],
    timings: {
      acceptedAt: at,
      finishedAt: at,
      queuedMs: 0,
      stagedMs: 0,
      sealedMs: 0,
      ranMs: 0,
      committedMs: 0,
      warm: false,
    },
    warnings: [],
  };
}

const all: Wanted = { labels: [], limit: 100 };
const runs = (model: ReadModel, tenant: string, wanted: Partial<Wanted> = {}) =>
  model.list(tenant, { ...all, ...wanted }).map((row) => row.run);

test('a run is listed once, the newest first, and only to its tenant', () => {
  using model = ReadModel.open(join(folder, 'listed.sqlite'));
  const [a, b, other] = [specOf('t'), specOf('t'), specOf('other')];
  for (const spec of [a, b, other, a]) model.accepted(spec, 'runc');
  assert.deepEqual(runs(model, 't'), [b.run, a.run]);
  assert.deepEqual(runs(model, 'other'), [other.run]);
  assert.deepEqual(runs(model, 'nobody'), []);
});

test('what is finished stays finished, whatever arrives late and in whatever order', () => {
  using model = ReadModel.open(join(folder, 'order.sqlite'));
  const spec = specOf('t');
  model.finished(resultOf(spec, 'failed'));
  model.accepted(spec, 'runc');
  model.progressed(spec.run, 'running');
  model.ended(spec.run, 'succeeded', at);
  const [row] = model.list('t', all);
  assert.deepEqual([row?.status, row?.outcome, row?.reason], ['finished', 'failed', 'because failed']);
});

test('a nudge alone says the outcome; the result then says why', () => {
  using model = ReadModel.open(join(folder, 'nudge.sqlite'));
  const spec = specOf('t');
  model.accepted(spec, 'runc');
  model.progressed(spec.run, 'running');
  assert.deepEqual(runs(model, 't', { status: 'running' }), [spec.run]);
  model.ended(spec.run, 'timed_out', at);
  assert.equal(model.knowsEnd(spec.run), true);
  assert.equal(model.list('t', all)[0]?.reason, '');
  model.finished(resultOf(spec, 'timed_out'));
  assert.equal(model.list('t', all)[0]?.reason, 'because timed_out');
});

test('lists are filtered by status, outcome, every label and time, and are read in pages', () => {
  using model = ReadModel.open(join(folder, 'filters.sqlite'));
  const specs = Array.from({ length: 5 }, (_, i) => specOf('t', { team: i % 2 ? 'a' : 'b', n: String(i) }));
  for (const spec of specs) model.accepted(spec, 'runc');
  const [first, second, third] = specs;
  assert.ok(first && second && third);
  model.finished(resultOf(first, 'failed'));
  model.finished(resultOf(second, 'succeeded'));
  assert.deepEqual(runs(model, 't', { status: 'failed' }), [first.run]);
  assert.deepEqual(runs(model, 't', { status: 'finished' }), [second.run, first.run]);
  assert.equal(runs(model, 't', { status: 'queued' }).length, 3);
  assert.deepEqual(
    runs(model, 't', {
      labels: [
        ['team', 'b'],
        ['n', '2'],
      ],
    }),
    [third.run],
  );
  assert.deepEqual(runs(model, 't', { labels: [['team', 'c']] }), []);
  assert.deepEqual(runs(model, 't', { since: new Date(Date.parse(at) + 1) }), []);
  assert.equal(runs(model, 't', { since: new Date(at) }).length, 5);
  const page = runs(model, 't', { limit: 2 });
  const rest = runs(model, 't', { before: page[1] });
  assert.deepEqual([...page, ...rest], specs.map((spec) => spec.run).toReversed());
});

test('what was never accepted is forgotten, with its labels; what is finished is not', () => {
  using model = ReadModel.open(join(folder, 'forget.sqlite'));
  const [open, done] = [specOf('t', { a: 'b' }), specOf('t', { a: 'b' })];
  model.accepted(open, 'runc');
  model.finished(resultOf(done, 'succeeded'));
  for (const { run } of [open, done]) model.forget(run);
  assert.deepEqual(runs(model, 't', { labels: [['a', 'b']] }), [done.run]);
});

test('a file that is damaged, or of another version, is replaced by an empty one', async () => {
  const file = join(folder, 'damaged.sqlite');
  await writeFile(file, 'this is no database, and longer than a header of one would be. '.repeat(50));
  {
    using model = ReadModel.open(file);
    model.accepted(specOf('t'), 'runc');
  }
  using again = ReadModel.open(file);
  assert.equal(runs(again, 't').length, 1);
  again.empty();
  assert.deepEqual(runs(again, 't'), []);
});
