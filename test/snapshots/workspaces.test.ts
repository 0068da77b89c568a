import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Result } from '@hotcell/contract/result.ts';
import type { WorkspaceResult } from '@hotcell/contract/workspace.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { manifestAt } from '@hotcell/record/snapshot-store.ts';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { EditedRecord } from '../support/edited-record.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { resultOf } from '../support/promise.ts';
import { spawnWorker } from '../support/real-worker.ts';
import { verdictsOf } from '../support/verified.ts';

/** A working folder with a history: real runs over HTTP, each in a cell of its own. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let worker: Child;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  worker = await spawnWorker(bed, house, 'one', { HOTCELL_QUEUES: 'runc,gvisor' });
});
after(async () => {
  await settle(house, producer);
  await worker.stop();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

/** Of a program that fails on purpose. */
const ownFailure = 3;

type Asked = Record<string, unknown> & { code: string };

async function submitted({ code, ...rest }: Asked) {
  const body = JSON.stringify({ blocks: [{ language: 'python', code }], ...rest });
  const answer = await producer.ask('POST', '/v1/runs', { body });
  return { status: answer.status, text: await answer.text() };
}

async function finished(asked: Asked): Promise<Result & { workspace: WorkspaceResult }> {
  const { status, text } = await submitted(asked);
  assert.equal(status, 202, text);
  const result = await resultOf(house, (JSON.parse(text) as { run: string }).run, 180_000);
  const { workspace } = result;
  const { exitCode } = result;
  assert.ok(result.outcome !== 'failed' || exitCode === ownFailure, exitCode === 1 ? await logOf(result.run) : '');
  assert.ok(workspace, result.reason);
  return { ...result, workspace };
}

async function logOf(run: string): Promise<string> {
  const text = await (await producer.ask('GET', `/v1/runs/${run}/logs`)).text();
  const rows = text.trim().split('\n');
  return rows.map((row) => (JSON.parse(row) as { text?: string }).text ?? '').join('');
}

async function pathsIn(snapshot: string | null): Promise<string[]> {
  return (await manifestAt(house.store, house.tenant, (snapshot ?? '') as `sha256:${string}`)).map(({ path }) => path);
}

for (const policy of ['sealed', 'hostile-gvisor'])
  test(`a chain of cells has one working folder, under ${policy}`, async () => {
    // The other one lets nothing be named: its runs go on from ids.
    const published = policy === 'sealed' ? { workspacePublish: 'folder' } : {};
    const first = await finished({
      policy,
      code: `
import os
os.makedirs('notes/deep')
open('notes/deep/one.txt', 'w').write('one')
open('counter', 'w').write('1')
open('gone', 'w').write('x')
`,
      workspace: '@empty',
      ...published,
    });
    assert.equal(first.outcome, 'succeeded', first.reason);
    assert.deepEqual(await pathsIn(first.workspace.after), ['counter', 'gone', 'notes/deep/one.txt']);
    assert.deepEqual(first.workspace.changes, {
      ...{ added: 3, changed: 0, removed: 0 },
      paths: ['counter', 'gone', 'notes/deep/one.txt'].map((path) => ({ path, change: 'added' })),
    });
    const second = await finished({
      policy,
      code: `
import os
assert open('/work/notes/deep/one.txt').read() == 'one'
count = int(open('counter').read()) + 1
open('counter', 'w').write(str(count))
os.remove('gone')
os.rename('notes', 'moved')
os.chmod('moved', 0o700)
open('moved/two.txt', 'w').write('two')
`,
      workspace: policy === 'sealed' ? 'folder' : first.workspace.after,
      ...published,
    });
    assert.equal(second.outcome, 'succeeded', second.reason);
    assert.equal(second.workspace.before, first.workspace.after);
    assert.deepEqual(await pathsIn(second.workspace.after), ['counter', 'moved/deep/one.txt', 'moved/two.txt']);
    const { added, changed, removed } = second.workspace.changes ?? {};
    assert.deepEqual({ added, changed, removed }, { added: 2, changed: 1, removed: 2 });
    const third = await finished({
      policy,
      code: 'assert open("counter").read() == "2"',
      workspace: policy === 'sealed' ? 'folder@2' : second.workspace.after,
    });
    assert.equal(third.outcome, 'succeeded', third.reason);
    assert.equal(third.workspace.after, second.workspace.after);
    assert.deepEqual(third.warnings, []);
  });

test('what no snapshot can hold is left out and named, and the run’s own files do not belong to it', async () => {
  const code = `
import os
open('locked', 'w').write('kept all the same')
os.chmod('locked', 0)
os.symlink('/etc/passwd', 'link')
os.mkfifo('pipe')
open('two', 'w').close()
os.link('two', 'three')
for name in ('Case', 'case', 'line\\nbreak'): open(name, 'w').close()
`;
  const files = [{ path: 'lib/helper.py', text: 'x = 1' }];
  const { workspace, outcome, reason } = await finished({ code, files, workspace: '@empty' });
  assert.equal(outcome, 'succeeded', reason);
  assert.deepEqual(await pathsIn(workspace.after), ['locked']);
  const refused = workspace.refused.map(({ path }) => path).toSorted();
  assert.deepEqual(refused, ['Case', 'case', 'line%0Abreak', 'link', 'pipe', 'three', 'two']);
});

test('a program that fails leaves its workspace too, and moves no name', async () => {
  const begun = await finished({ code: 'open("a", "w").write("1")', workspace: '@empty', workspacePublish: 'tried' });
  const code = `open("a", "w").write("2"); raise SystemExit(${ownFailure})`;
  const failed = await finished({ code, workspace: 'tried', workspacePublish: 'tried' });
  assert.equal(failed.outcome, 'failed');
  assert.equal(failed.workspace.changes?.changed, 1);
  const next = await finished({ code: 'assert open("a").read() == "1"', workspace: 'tried' });
  assert.equal(next.workspace.before, begun.workspace.after);
  const from = `${failed.run}:workspace`;
  assert.equal((await finished({ code: 'assert open("a").read() == "2"', workspace: from })).outcome, 'succeeded');
});

test('a program that is out of time leaves its workspace as it was then', async () => {
  const code = 'open("a", "w").write("1")\nwhile True: pass';
  const { outcome, workspace } = await finished({ code, workspace: '@empty', limits: { timeoutSeconds: 1 } });
  assert.deepEqual([outcome, await pathsIn(workspace.after)], ['timed_out', ['a']]);
});

test('a session begins with a workspace, and leaves what its steps made of it', async () => {
  const begun = await finished({ code: 'open("n", "w").write("1")', workspace: '@empty' });
  const hotcell = await producer.client();
  const session = await hotcell.session({ policy: 'sealed', workspace: begun.workspace.after ?? '' });
  const step = await session.run('n = int(open("n").read()) + 1; open("n", "w").write(str(n))');
  assert.equal(step.outcome, 'succeeded', step.stderr);
  await session.run('cat n > by-shell', { language: 'bash' });
  const before = await producer.ask('POST', `/v1/runs/${session.id}/steps`, {
    body: JSON.stringify({ language: 'python', code: '', files: [{ path: 'n', text: 'not theirs' }] }),
  });
  assert.equal(before.status, 422);
  await session.finish();
  const { workspace } = await resultOf(house, session.id, 180_000);
  assert.equal(workspace?.before, begun.workspace.after);
  assert.deepEqual(await pathsIn(workspace?.after ?? null), ['by-shell', 'n']);
  assert.deepEqual(
    workspace?.changes?.paths.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    [
      { path: 'by-shell', change: 'added' },
      { path: 'n', change: 'changed' },
    ],
  );
});

test('all of it is kept, or none: a run that leaves too much says so', async () => {
  const code = 'for name in ("a", "b"): open(name, "w").truncate(200 * 2**20)';
  const { workspace, outcome, reason } = await finished({ code, workspace: '@empty', workspacePublish: 'huge' });
  assert.equal(outcome, 'output_exceeded', reason);
  assert.match(reason, /workspace was not kept: .*limits\.scratchBytes/);
  assert.equal(workspace.after, null);
  const named = await submitted({ code: '', workspace: 'huge' });
  assert.equal(named.status, 422);
  assert.match(named.text, /@empty/);
});

test('a request is refused if its own files would hide the workspace’s', async () => {
  const { workspace } = await finished({ code: 'open("main.py", "w").close()', workspace: '@empty' });
  const body = { blocks: [{ language: 'python', code: '', file: 'main.py' }], workspace: workspace.after };
  const answer = await producer.ask('POST', '/v1/runs', { body: JSON.stringify(body) });
  assert.equal(answer.status, 422);
  const { errors } = (await answer.json()) as { errors: { path: string }[] };
  assert.deepEqual(
    errors.map(({ path }) => path),
    ['blocks[0].file'],
  );
});

test('verifiers read both ends of a workspace', async () => {
  const begun = await finished({ code: 'open("data", "w").write("verified")', workspace: '@empty' });
  const { run, workspace } = await finished({ code: 'open("more", "w").write("1")', workspace: begun.workspace.after });
  const record = await EditedRecord.open(house.store);
  for (const verdict of (await verdictsOf(house)).values())
    assert.equal(verdict.verdict, 'VALID', JSON.stringify(verdict.findings));
  const [data] = await manifestAt(house.store, house.tenant, workspace.before);
  const list = recordKeys.manifest(house.tenant, workspace.after ?? '');
  for (const [key, as, verdict] of [
    [list, record.original(list).subarray(1), 'MODIFIED'],
    [recordKeys.cas(house.tenant, data?.sha256 ?? ''), Buffer.from('VERIFIED'), 'MODIFIED'],
    [recordKeys.manifest(house.tenant, workspace.before), undefined, 'MISSING'],
  ] as const) {
    await (as ? record.rewrite(key, as) : record.remove(key));
    const found = (await verdictsOf(house)).get(run);
    assert.equal(found?.verdict, verdict, key);
    assert.equal(found?.findings[0]?.object, key);
    await record.restore();
  }
});
