import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { newRunId } from '@hotcell/contract/names.ts';
import { nothingUsed, type Result } from '@hotcell/contract/result.ts';
import { ReadModel } from '@hotcell/producer/readmodel/read-model.ts';
import { rowAccepted, rowFinished } from '@hotcell/producer/readmodel/run-changes.ts';
import type { Wanted } from '@hotcell/producer/readmodel/run-query.ts';
import { RunTables } from '@hotcell/producer/readmodel/run-tables.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hotcell-read-model-'));
});
after(() => rm(folder, { recursive: true }));

const digest = `sha256:${'0'.repeat(64)}`;
const at = '2026-11-18T10:00:00.000Z';
const requester = { key: 'k', role: 'submitter' } as const;

function specOf(tenant: string, labels: Record<string, string> = {}) {
  return {
    run: newRunId(),
    tenant,
    policy: { name: 'sealed', digest },
    requester,
    labels,
    inputs: [],
    blocks: [],
    acceptedAt: at,
  };
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
const list = (model: RunTables, tenant: string, wanted: Partial<Wanted> = {}, scan = 1_000) =>
  model.list(tenant, { ...all, ...wanted }, scan);
const runs = (...asked: Parameters<typeof list>) => list(...asked).rows.map((row) => row.run);

test('a run is listed once, the newest first, and only to its tenant', () => {
  using model = RunTables.open(join(folder, 'listed.sqlite'));
  const [a, b, other] = [specOf('t'), specOf('t'), specOf('other')];
  for (const spec of [a, b, other, a]) model.write([rowAccepted(spec, 'runc')]);
  assert.deepEqual(runs(model, 't'), [b.run, a.run]);
  assert.deepEqual(runs(model, 'other'), [other.run]);
  assert.deepEqual(runs(model, 'nobody'), []);
});

test('what is finished stays finished, whatever arrives late and in whatever order', () => {
  using model = RunTables.open(join(folder, 'order.sqlite'));
  const spec = specOf('t');
  model.write([rowFinished(resultOf(spec, 'failed'))]);
  model.write([rowAccepted(spec, 'runc')]);
  model.write([{ kind: 'progressed', tenant: 't', run: spec.run, status: 'running' }]);
  model.write([{ kind: 'ended', tenant: 't', run: spec.run, outcome: 'succeeded', at }]);
  const [row] = list(model, 't').rows;
  assert.deepEqual([row?.status, row?.outcome, row?.reason], ['finished', 'failed', 'because failed']);
});

test('a nudge alone says the outcome; the result then says why', () => {
  using model = RunTables.open(join(folder, 'nudge.sqlite'));
  const spec = specOf('t');
  model.write([rowAccepted(spec, 'runc')]);
  model.write([{ kind: 'progressed', tenant: 't', run: spec.run, status: 'running' }]);
  assert.deepEqual(runs(model, 't', { status: 'running' }), [spec.run]);
  model.write([{ kind: 'ended', tenant: 't', run: spec.run, outcome: 'timed_out', at }]);
  assert.equal(model.known([spec.run]).get(spec.run)?.ended, true);
  assert.equal(list(model, 't').rows[0]?.reason, '');
  model.write([rowFinished(resultOf(spec, 'timed_out'))]);
  assert.equal(list(model, 't').rows[0]?.reason, 'because timed_out');
});

test('lists are filtered by status, outcome, every label and time, and are read in pages', () => {
  using model = RunTables.open(join(folder, 'filters.sqlite'));
  const specs = Array.from({ length: 5 }, (_, i) => specOf('t', { team: i % 2 ? 'a' : 'b', n: String(i) }));
  for (const spec of specs) model.write([rowAccepted(spec, 'runc')]);
  const [first, second, third] = specs;
  assert.ok(first && second && third);
  model.write([rowFinished(resultOf(first, 'failed'))]);
  model.write([rowFinished(resultOf(second, 'succeeded'))]);
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
  using model = RunTables.open(join(folder, 'forget.sqlite'));
  const [open, done] = [specOf('t', { a: 'b' }), specOf('t', { a: 'b' })];
  model.write([rowAccepted(open, 'runc')]);
  model.write([rowFinished(resultOf(done, 'succeeded'))]);
  for (const { run } of [open, done]) model.write([{ kind: 'forgotten', run }]);
  assert.deepEqual(runs(model, 't', { labels: [['a', 'b']] }), [done.run]);
});

test('a file that is damaged, or of another version, is replaced by an empty one', async () => {
  const file = join(folder, 'damaged.sqlite');
  await writeFile(file, 'this is no database, and longer than a header of one would be. '.repeat(50));
  {
    using model = RunTables.open(file);
    model.write([rowAccepted(specOf('t'), 'runc')]);
  }
  using again = RunTables.open(file);
  assert.equal(runs(again, 't').length, 1);
  again.empty();
  assert.deepEqual(runs(again, 't'), []);
});

test('a list looks at so many rows in one go, and goes on where it ended', () => {
  using model = RunTables.open(join(folder, 'slices.sqlite'));
  const rare = specOf('t', { team: 'rare', all: 'yes' });
  model.write([rowAccepted(rare, 'runc')]);
  model.write(Array.from({ length: 50 }, () => rowAccepted(specOf('t', { all: 'yes' }), 'runc')));
  const wanted: Partial<Wanted> = {
    labels: [
      ['all', 'yes'],
      ['team', 'rare'],
    ],
  };
  const first = list(model, 't', wanted, 20);
  assert.deepEqual(first.rows, []);
  const second = list(model, 't', { ...wanted, before: first.before }, 20);
  assert.deepEqual(second.rows, []);
  const third = list(model, 't', { ...wanted, before: second.before }, 20);
  assert.deepEqual([third.rows.map(({ run }) => run), third.before], [[rare.run], undefined]);
});

test('changes that are given together are written together or not at all', () => {
  using model = RunTables.open(join(folder, 'together.sqlite'));
  const place = { tenant: 't', tail: 1, day: '2026/11/18', after: '' };
  const wrong = { ...rowAccepted(specOf('t'), 'runc'), kind: 'row', row: { run: null } } as never;
  assert.throws(() => model.write([rowAccepted(specOf('t'), 'runc'), { kind: 'place', place }, wrong]));
  assert.deepEqual([runs(model, 't'), model.places()], [[], []]);
  model.write([rowAccepted(specOf('t'), 'runc'), { kind: 'place', place }]);
  assert.deepEqual([runs(model, 't').length, model.places()], [1, [place]]);
});

test('a list has what was noted before it, and a message about an unknown run is told of', async () => {
  await using model = await ReadModel.open(join(folder, 'thread.sqlite'), (error) => assert.fail(String(error)));
  const { promise: told, resolve } = Promise.withResolvers<unknown>();
  model.onUnknown(resolve);
  const specs = Array.from({ length: 3 }, () => specOf('t'));
  for (const spec of specs) model.note(rowAccepted(spec, 'runc'));
  assert.equal((await model.list('t', all)).length, 3);
  const stranger = { tenant: 't', run: newRunId() };
  for (const { run } of [...specs, stranger]) model.note({ kind: 'progressed', tenant: 't', run, status: 'running' });
  assert.deepEqual(await told, [stranger]);
  assert.equal((await model.list('t', { ...all, status: 'running' })).length, 3);
  await model.empty();
  assert.deepEqual(await model.list('t', all), []);
});
