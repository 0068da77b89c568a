import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { Result } from '@hotcell/contract/result.ts';
import { phoneHome, transform, wasSealed } from '@hotcell/cli/demo/demo-runs.ts';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { spawnWorker } from '../support/real-worker.ts';
import { cliWith } from './cli.ts';

/** From the command line to real cells and back, with every part as it runs in production. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let worker: Child;
let cli: ReturnType<typeof cliWith>;
let folder: string;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  worker = await spawnWorker(bed, house, 'one');
  folder = await bed.folder('commands');
  cli = cliWith({ HOTCELL_HOME: folder, HOTCELL_URL: producer.url, HOTCELL_API_KEY: await producer.key() });
});
after(async () => {
  await settle(house, producer);
  worker.kill('SIGTERM');
  await worker.ended;
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const file = async (name: string, content: string) => {
  const path = join(folder, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, content);
  return path;
};

async function submitted(code: string, ...more: string[]): Promise<string> {
  const { code: exit, stdout, stderr } = await cli.run(['submit', '-e', code, ...more]);
  assert.equal(exit, 0, stderr);
  return stdout.trim();
}

test('run keeps both streams apart, byte for byte, and exits with the program’s exit code', async () => {
  const code = 'import sys; sys.stdout.write("a\\x1b[31m\\x00é"); sys.stderr.write("b"); sys.exit(7)';
  const { code: exit, stdout, stderr } = await cli.run(['run', '--quiet', '-e', code]);
  assert.deepEqual([exit, stdout, stderr], [7, 'a\x1b[31m\x00é', 'b']);
});

test('run says which package the code lacks, and how to make an image that has it', async () => {
  const { code, stderr } = await cli.run(['run', '-e', 'import sklearn']);
  assert.equal(code, 1);
  assert.match(stderr, /lacks the Python module sklearn \(of the package scikit-learn\)/);
  assert.match(
    stderr,
    /\.\/hotcell image build NAME --requirements requirements\.txt \(with scikit-learn in that file\)/,
  );
});

test('run --json prints accepted first, then status and log in order, and the result last', async () => {
  const { code, rows } = await cli.run(['run', '--json', '-e', 'import time; print("hi", flush=True); time.sleep(2)']);
  assert.equal(code, 0);
  assert.deepEqual([rows.at(0)?.['type'], rows.at(-1)?.['type']], ['accepted', 'result']);
  const result = Result.parse(rows.at(-1)?.['result']);
  assert.deepEqual([result.run, result.outcome], [rows[0]?.['run'], 'succeeded']);
  const text = rows.filter((row) => row['type'] === 'log').map((row) => row['text']);
  assert.equal(text.join(''), 'hi\n');
  const order = ['queued', 'staging', 'running', 'publishing', 'finished'];
  const statuses = rows.filter((row) => row['type'] === 'status').map((row) => String(row['status']));
  assert.ok(statuses.includes('running'), statuses.join());
  assert.deepEqual(
    statuses,
    statuses.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)),
  );
});

test('a run combines several languages, files, parameters, inputs and outputs', async () => {
  await file('sales/2026/q1.csv', 'a\n1\n2\n');
  const clean = await file(
    'clean.py',
    [
      '# filename: steps/clean.py',
      'import json, os',
      'rows = open("/inputs/sales/2026/q1.csv").read().split()[1:]',
      'factor = json.load(open("/inputs/params.json"))["factor"]',
      'os.makedirs("/outputs/by/day")',
      'open("/outputs/by/day/sum.txt", "w").write(str(sum(map(int, rows)) * factor))',
      'open("between.txt", "w").write(open("note.txt").read())',
    ].join('\n'),
  );
  const report = await file('report.sh', 'cat between.txt; cat steps/clean.py | head -n 1');
  const note = await file('note.txt', 'a note\n');
  const out = join(folder, 'results');
  const asked = [
    'run',
    clean,
    report,
    '--input',
    `sales=${join(folder, 'sales')}`,
    '--param',
    'factor=14',
    '--file',
    note,
  ];
  const { code, stdout, stderr } = await cli.run([...asked, '--quiet', '--policy', 'analytics', '--out', out]);
  assert.equal(code, 0, stderr);
  assert.equal(stdout, 'a note\n# filename: steps/clean.py\n');
  assert.equal(await readFile(join(out, 'by/day/sum.txt'), 'utf8'), '42');
});

test('JavaScript and TypeScript run under the policy node', async () => {
  const script = await file('sum.ts', 'const sum: number = [1, 2, 3].reduce((a, b) => a + b); console.log(sum);');
  const { code, stdout, stderr } = await cli.run(['run', script, '--policy', 'node']);
  assert.equal(stdout, '6\n', stderr);
  assert.equal(code, 0);
});

test('every outcome has its exit code', async () => {
  assert.equal((await cli.run(['run', '-e', 'import time; time.sleep(600)', '--timeout', '1'])).code, 124);
  assert.equal((await cli.run(['run', '--lang', 'bash', '-e', 'kill -SEGV $$'])).code, 128 + 11);
  const hungry = 'b = bytearray(900 * 2**20)\nfor i in range(0, len(b), 4096): b[i] = 1';
  assert.equal((await cli.run(['run', '-e', hungry, '--memory', '128m'])).code, 137);
  const refused = await cli.run(['run', '--json', '-e', '1', '--cpus', '999']);
  assert.equal(refused.code, 126);
  const last = refused.rows.at(-1);
  assert.equal(last?.['type'], 'result');
  assert.equal(Result.parse(last?.['result']).outcome, 'rejected');
  assert.equal((await cli.run(['run', '--nonsense'])).code, 2);
  assert.equal((await cli.run(['run', '-e', '1', '--url', 'http://127.0.0.1:9'])).code, 125);
  const stranger = cliWith({
    HOTCELL_HOME: folder,
    HOTCELL_URL: producer.url,
    HOTCELL_API_KEY: `hc_${'A'.repeat(43)}`,
  });
  assert.equal((await stranger.run(['run', '-e', '1'])).code, 4);
});

test('submit, wait, show, logs, ls, get and rerun agree with each other', async () => {
  const run = await submitted(
    'open("/outputs/x.txt", "w").write("x"); print("said"); raise SystemExit(3)',
    '--label',
    'story=one',
    '--name',
    'nightly',
  );
  assert.equal((await cli.run(['wait', run.slice(-12)])).code, 3);
  assert.equal((await cli.run(['wait', '@last'])).code, 3);
  assert.match((await cli.run(['show', '@last~400'])).stderr, /names no run/);
  assert.match((await cli.run(['ls', '--label', 'name=nightly'])).stdout, new RegExp(`^${run}  nightly  failed `, 'm'));
  const shown = await cli.run(['show', run, '--json']);
  const result = Result.parse(shown.rows[0]);
  assert.deepEqual([result.outcome, result.exitCode], ['failed', 3]);
  const written = { stdout: 'said\n', stderr: '', truncated: false };
  assert.deepEqual((await cli.run(['wait', run, '--json'])).rows, [{ ...shown.rows[0], ...written }]);
  assert.equal((await cli.run(['logs', run])).stdout, 'said\n');
  assert.match(
    (await cli.run(['show', run, '--code'])).stdout,
    /^==> block 0, python <==\nopen\(.*; raise SystemExit\(3\)\n$/,
  );
  assert.equal((await cli.run(['get', run, 'x.txt'])).stdout, 'x');
  assert.match((await cli.run(['get', run])).stdout, new RegExp(`x\\.txt +1 +${sha256('x')}`));
  const listed = await cli.run(['ls', '--json', '--label', 'story=one', '--status', 'failed', '--since', '1d']);
  assert.deepEqual(
    listed.rows.map((row) => [row['run'], row['reason']]),
    [[run, result.reason]],
  );
  const again = (await cli.run(['rerun', run])).stdout.trim();
  assert.equal((await cli.run(['wait', again])).code, 3);
  const repeated = Result.parse((await cli.run(['show', again, '--json'])).rows[0]);
  assert.deepEqual(repeated.labels, { story: 'one', name: 'nightly', 'rerun-of': run });
  assert.deepEqual(repeated.outputs, result.outputs);
});

test('cancel ends a running run, names who and why, and keeps its log', async () => {
  const run = await submitted('import time; print("begun", flush=True); time.sleep(600)');
  for await (const event of (await producer.client()).runById(run).events()) if (event.type === 'log') break;
  assert.equal((await cli.run(['cancel', run, '--reason', 'enough'])).code, 0);
  assert.equal((await cli.run(['wait', run])).code, 130);
  assert.match(Result.parse((await cli.run(['show', run, '--json'])).rows[0]).reason, /enough/);
  assert.equal((await cli.run(['logs', run])).stdout, 'begun\n');
  assert.equal((await cli.run(['cancel', run])).code, 1);
});

test('Ctrl-C detaches from a run and says how to return; the run goes on', async () => {
  const calling = cli.call(['run', '-e', 'import time; print("begun", flush=True); time.sleep(600)']);
  const { stdout } = calling.process;
  assert.ok(stdout);
  await once(stdout, 'data');
  calling.process.kill('SIGINT');
  const { code, stderr } = await calling.ended;
  assert.equal(code, 75);
  const [, run = ''] = /Detached; the run goes on: \.\/hotcell wait (\S+)\. /.exec(stderr) ?? [];
  assert.equal((await (await producer.client()).runById(run).show()).status, 'running');
  const following = cli.call(['logs', run, '-f']);
  assert.ok(following.process.stdout);
  await once(following.process.stdout, 'data');
  following.process.kill('SIGINT');
  const detached = await following.ended;
  assert.equal(detached.code, 75);
  assert.match(detached.stderr, /Detached; the run goes on/);
  assert.equal((await cli.run(['cancel', run])).code, 0);
  assert.equal((await cli.run(['wait', run])).code, 130);
});

test('get never writes outside its folder, whatever is in the way', async () => {
  const run = await submitted(
    'import os; os.makedirs("/outputs/d"); [open(f"/outputs/{p}", "w").write("new") for p in ("f", "d/g")]',
  );
  assert.equal((await cli.run(['wait', run])).code, 0);
  const elsewhere = join(folder, 'elsewhere');
  await mkdir(elsewhere);
  const victim = await file('victim.txt', 'old');
  const links = join(folder, 'links');
  await mkdir(links);
  await symlink(victim, join(links, 'f'));
  assert.equal((await cli.run(['get', run, 'f', '-o', links])).code, 0);
  assert.equal(await readFile(victim, 'utf8'), 'old');
  assert.equal(await readFile(join(links, 'f'), 'utf8'), 'new');
  await symlink(elsewhere, join(links, 'd'));
  const refused = await cli.run(['get', run, '-o', links]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /is a link or a file, not a folder/);
  await assert.rejects(readFile(join(elsewhere, 'g')));
});

test('a missing run or an invalid argument is one line on stderr and nothing on stdout', async () => {
  for (const [args, exit, about] of [
    [['show', 'no-such-run'], 1, /no-such-run/],
    [['logs', '019a9f3e-7c00-7000-8000-000000000000'], 1, /Run 019a9f3e-\S+ not found/],
    [['wait', 'nope'], 1, /nope/],
    [['ls', '--since', 'yesterday'], 1, /--since yesterday/],
    [['ls', '--status', 'odd'], 2, /odd/],
    [['run'], 2, /Nothing to run/],
    [['run', 'missing.py'], 2, /missing\.py/],
    [['run', '-e', '1', '--timeout', 'soon'], 2, /soon/],
    [['apikey', 'ls'], 4, /admin/],
    [['workers', 'ls'], 4, /admin/],
    [['get'], 2, /run/],
  ] as const) {
    const { code, stdout, stderr } = await cli.run(args);
    assert.deepEqual([code, stdout], [exit, ''], `${args.join(' ')}: ${stderr}`);
    assert.match(stderr, about);
  }
});

test('a run that prints leaves at most 20 KB in the record, evidence included', async () => {
  const sizes = async () => {
    const found = new Map<string, number>();
    for await (const { key, size } of house.store.list(house.store.record, '')) found.set(key, size);
    return found;
  };
  // What runs share, such as the policy and the form of the posture, is there after the first.
  await cli.run(['run', '--quiet', '-e', 'print(1)']);
  const before = await sizes();
  const { code } = await cli.run(['run', '--quiet', '-e', 'print(1)']);
  assert.equal(code, 0);
  const left = [...(await sizes())].filter(([key]) => !before.has(key));
  const files = left.map(([key]) => key.slice(key.lastIndexOf('/') + 1)).toSorted();
  assert.deepEqual(files, ['evidence.sigstore.json', 'log.ndjson.zst', 'result.json', 'spec.json']);
  const bytes = left.reduce((sum, [, size]) => sum + size, 0);
  assert.ok(bytes <= 20_000, `${bytes} bytes: ${JSON.stringify(left)}`);
});

test('rebuild restores the lists from the buckets', async () => {
  const run = await submitted('print(1)', '--label', 'rebuilt=yes');
  assert.equal((await cli.run(['wait', run])).code, 0);
  const operator = cliWith({
    HOTCELL_HOME: folder,
    HOTCELL_URL: producer.url,
    HOTCELL_API_KEY: await producer.key('admin', 'default'),
  });
  const { code, rows } = await operator.run(['rebuild', '--json']);
  assert.equal(code, 0);
  assert.ok(Number(rows[0]?.['runs']) > 0);
  const listed = await cli.run(['ls', '--json', '--label', 'rebuilt=yes']);
  assert.deepEqual(
    listed.rows.map((row) => [row['run'], row['outcome']]),
    [[run, 'succeeded']],
  );
});

test('the demo makes its table and plot, and its second block finds the network sealed', async () => {
  const client = await producer.client();
  const shown = { note: () => {}, log: async () => {} };
  const made = await transform(client, shown);
  assert.equal(made.result.outcome, 'succeeded', made.errors);
  assert.deepEqual(
    made.result.outputs.files.map((output) => output.path),
    ['revenue.csv', 'revenue.png'],
  );
  const tried = await phoneHome(client, shown);
  assert.ok(wasSealed(tried), `${tried.result.reason}\n${tried.errors}`);
});
