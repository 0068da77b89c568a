import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import { askMcp, callTool, textIn } from '../support/mcp-client.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { spawnWorker } from '../support/real-worker.ts';
import type { Child } from '../support/child.ts';

/** Real cells, asked by MCP over HTTP. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let worker: Child;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  worker = await spawnWorker(bed, house, 'one', { HOTCELL_QUEUES: 'runc' });
});
after(async () => {
  await settle(house, producer);
  await worker.stop();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const call = (name: string, args: object = {}) => callTool(producer, name, args);
const long = { waitSeconds: 60 };

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('the tools come in one order, and say what a cell has and has not', async () => {
  const lists = await Promise.all([askMcp(producer, 'tools/list'), askMcp(producer, 'tools/list')]);
  const [one, two] = lists.map(({ result }) => (result as { tools: { name: string; description: string }[] }).tools);
  assert.deepEqual(one, two);
  assert.deepEqual(
    one?.map(({ name }) => name),
    [
      ...['run_code', 'submit_job', 'get_job', 'wait_job', 'read_logs', 'list_outputs', 'read_output', 'cancel_job'],
      ...['create_snapshot', 'list_policies', 'open_session', 'run_step', 'close_session'],
    ],
  );
  assert.match(one?.[0]?.description ?? '', /no network of any kind.*300 s|no network of any kind/);
});

test('code runs, and the answer has what it printed and which files it left', async () => {
  const code = `
import base64, sys
print("hello"); print("careful", file=sys.stderr)
open("/outputs/words.txt", "w").write("zwölf")
open("/outputs/dot.png", "wb").write(base64.b64decode("${png}"))
open("/outputs/bytes.bin", "wb").write(bytes([0, 255, 254, 0] * 8))
`;
  const ran = await call('run_code', { code, policy: 'analytics', ...long });
  assert.equal(ran.isError, undefined, textIn(ran));
  const { run, stdout, stderr, outcome, exitCode } = ran.structuredContent;
  assert.deepEqual(
    { stdout, stderr, outcome, exitCode },
    { stdout: 'hello\n', stderr: 'careful\n', outcome: 'succeeded', exitCode: 0 },
  );
  assert.match(textIn(ran), /^succeeded: .*\nstdout:\nhello\nstderr:\ncareful\noutput: /);
  const links = ran.content.filter(({ type }) => type === 'resource_link').map(({ uri }) => uri);
  assert.deepEqual(
    new Set(links),
    new Set(['bytes.bin', 'dot.png', 'words.txt'].map((path) => `hotcell://runs/${run}/outputs/${path}`)),
  );

  const listed = await call('list_outputs', { run, limit: 2 });
  assert.equal(listed.structuredContent['next'], 'dot.png');
  const rest = await call('list_outputs', { run, limit: 2, after: 'dot.png' });
  assert.match(textIn(rest), /^words\.txt, 6 bytes$/);

  const words = await call('read_output', { run, path: 'words.txt' });
  assert.deepEqual([words.structuredContent['kind'], textIn(words)], ['text', 'zwölf']);
  // Cut before a character that would be broken.
  const cut = await call('read_output', { run, path: 'words.txt', maxBytes: 3 });
  assert.match(textIn(cut), /^zw\n\[… this is the beginning: the file has 6 bytes …\]$/);
  const dot = await call('read_output', { run, path: 'dot.png' });
  assert.deepEqual(
    dot.content.filter(({ type }) => type === 'image').map(({ data, mimeType }) => ({ data, mimeType })),
    [{ data: png, mimeType: 'image/png' }],
  );
  const binary = await call('read_output', { run, path: 'bytes.bin' });
  assert.match(textIn(binary), /neither a text nor a picture.*inputs \{"name": ".*:outputs"\}/);
  const resource = await askMcp(producer, 'resources/read', { uri: `hotcell://runs/${run}/outputs/words.txt` });
  assert.equal((resource.result as { contents: { text: string }[] }).contents[0]?.text, 'zwölf');

  const again = await call('run_code', {
    code: 'print(open("/inputs/before/words.txt").read())',
    policy: 'analytics',
    inputs: { before: `${run}:outputs` },
    ...long,
  });
  assert.equal(again.structuredContent['stdout'], 'zwölf\n', textIn(again));
});

test('a program that fails is an answer with its reason, not an error of the protocol', async () => {
  const failed = await call('run_code', { code: 'raise ValueError("so not")', ...long });
  assert.equal(failed.isError, true);
  assert.equal(failed.structuredContent['outcome'], 'failed');
  assert.match(textIn(failed), /^failed: .*\nstderr:\n.*ValueError: so not/s);
});

test('a refusal lists every reason and what would be allowed, and is recorded', async () => {
  const refused = await call('run_code', { code: 'print(1)', limits: { timeoutSeconds: 9e6, cpus: 500 }, ...long });
  assert.equal(refused.isError, true);
  const { code, reasons, run, allowed } = refused.structuredContent['error'] as Record<
    string,
    string & { path: string }[]
  >;
  assert.equal(code, 'policy_refused');
  assert.deepEqual(
    reasons?.map(({ path }) => path).toSorted(),
    ['limits.cpus', 'limits.timeoutSeconds'],
    textIn(refused),
  );
  assert.match(String(allowed), /A run may take/);
  const recorded = await call('get_job', { run });
  assert.equal(recorded.structuredContent['outcome'], 'rejected');
  const unknown = await call('run_code', { code: 'print(1)', policy: 'nosuch' });
  assert.match(textIn(unknown), /What is allowed: the policies .*sealed/s);
});

test('a run that takes longer than the wait is waited for by its id', async () => {
  const { snapshot } = {
    snapshot: await call('create_snapshot', { files: [{ path: 'go.txt', text: 'go' }], name: 'go' }),
  };
  assert.match(textIn(snapshot), /^sha256:[0-9a-f]{64} \(go\): 1 file, 2 bytes$/);
  const begun = await call('submit_job', {
    blocks: [{ language: 'python', code: 'print(open("/inputs/go/go.txt").read())' }],
    policy: 'analytics',
    inputs: { go: 'go' },
  });
  assert.equal(begun.isError, undefined, textIn(begun));
  assert.match(textIn(begun), /Call wait_job with this run/);
  const ended = await call('wait_job', { run: begun.structuredContent.run, ...long });
  assert.equal(ended.structuredContent['stdout'], 'go\n', textIn(ended));
});

test('a long log comes as its beginning and its end, and the rest by pages', async () => {
  const ran = await call('run_code', { code: 'for i in range(20_000): print("row", i)', ...long });
  const { run, stdout, logLeftOut } = ran.structuredContent;
  assert.equal(logLeftOut, true);
  assert.ok(String(stdout).length < 9_000);
  assert.match(String(stdout), /^row 0\n.*left out.*row 19999\n$/s);
  assert.ok(ran.content.some(({ uri }) => uri === `hotcell://runs/${run}/log`));
  let text = '';
  for (let after: unknown = -1; after !== undefined; ) {
    const page = await call('read_logs', { run, after, maxBytes: 200_000 });
    text += String(page.structuredContent['text']);
    after = page.structuredContent['next'];
  }
  assert.equal(text, Array.from({ length: 20_000 }, (_, i) => `row ${i}\n`).join(''));
});

test('a call that is taken back ends its run', async () => {
  const leaves = new AbortController();
  const asked = callTool(
    producer,
    'run_code',
    { code: 'import time\nprint("begun", flush=True)\ntime.sleep(1000)', labels: { left: 'yes' }, ...long },
    { signal: leaves.signal },
  );
  const client = await producer.client();
  let run: string | undefined;
  while (run === undefined) run = (await client.list({ label: 'left=yes' })).runs[0]?.run;
  for await (const { text } of client.runById(run).logs()) if (text?.includes('begun')) break;
  leaves.abort();
  await assert.rejects(asked, { name: 'AbortError' });
  const { outcome, reason } = await client.runById(run).result();
  assert.equal(outcome, 'cancelled');
  assert.match(reason, /took its call back/);
});

test('a job can be cancelled, and looked at while it runs', async () => {
  const begun = await call('submit_job', {
    blocks: [{ language: 'bash', code: 'echo here; sleep 1000' }],
  });
  const { run } = begun.structuredContent;
  const client = await producer.client();
  for await (const { text } of client.runById(run).logs()) if (text?.includes('here')) break;
  assert.equal(textIn(await call('read_logs', { run })), 'here\n');
  await call('cancel_job', { run, reason: 'seen enough' });
  const ended = await call('wait_job', { run, ...long });
  assert.deepEqual([ended.structuredContent['outcome'], ended.isError], ['cancelled', true]);
  const empty = await call('list_outputs', { run });
  assert.equal(textIn(empty), 'The job left no files.');
});

test('policies are listed, and one says what its cells have', async () => {
  const all = await call('list_policies');
  assert.match(textIn(all), /^sealed \(the usual one\): /m);
  const one = await call('list_policies', { policy: 'analytics' });
  assert.match(textIn(one), /^analytics: .*\n?.*sealed cell/s);
  const told = await askMcp(producer, 'prompts/get', { name: 'cell', arguments: { policy: 'analytics' } });
  assert.match(JSON.stringify(told.result), /There is no network of any kind/);
});
