import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { callTool, textIn } from '../support/mcp-client.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { spawnWorker } from '../support/real-worker.ts';

/** Steps that build on each other in one real cell, asked by MCP over HTTP. */
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

async function open(more: object = {}): Promise<string> {
  const opened = await call('open_session', more);
  assert.equal(opened.isError, undefined, textIn(opened));
  assert.match(textIn(opened), /Call run_step with this run/);
  return opened.structuredContent.run;
}

/** Once the step has said that it has begun. */
async function interruptBegun(run: string, step: number): Promise<void> {
  const session = (await producer.client()).sessionById(run);
  for await (const { text } of session.logs()) if (text?.includes('begun')) break;
  await session.interrupt(step);
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('steps share names and files, show values and pictures, and leave outputs behind', async () => {
  const run = await open({ files: [{ path: 'given.txt', text: 'given' }] });
  const first = await call('run_step', { run, code: 'x = 41\nprint(open("given.txt").read())', ...long });
  const { step, outcome, stdout, exitCode } = first.structuredContent;
  assert.deepEqual(
    { step, outcome, stdout, exitCode },
    { step: 0, outcome: 'succeeded', stdout: 'given\n', exitCode: 0 },
  );
  const second = await call('run_step', { run, code: 'x + 1', ...long });
  assert.equal(second.structuredContent['shown'], '42', textIn(second));
  const drawn = await call('run_step', {
    run,
    code: `import base64
class Dot:
    def _repr_png_(self): return base64.b64decode("${png}")
Dot()`,
    ...long,
  });
  assert.deepEqual(
    drawn.content.filter(({ type }) => type === 'image').map(({ data, mimeType }) => ({ data, mimeType })),
    [{ data: png, mimeType: 'image/png' }],
    textIn(drawn),
  );
  const shell = await call('run_step', { run, language: 'bash', code: 'cp given.txt /outputs/; echo done', ...long });
  assert.equal(shell.structuredContent['stdout'], 'done\n', textIn(shell));
  const closed = await call('close_session', { run, ...long });
  assert.deepEqual(closed.structuredContent['outputs'], [{ path: 'given.txt', bytes: 5 }], textIn(closed));
});

test('a step that fails says why, and the session goes on until it is closed', async () => {
  const run = await open();
  const failed = await call('run_step', { run, code: 'raise ValueError("so not")', ...long });
  assert.deepEqual([failed.isError, failed.structuredContent['outcome']], [true, 'failed']);
  assert.match(textIn(failed), /ValueError: so not/);
  const long8k = await call('run_step', { run, code: 'print("a" * 20_000)', ...long });
  assert.equal(long8k.structuredContent['leftOut'], true);
  assert.ok(String(long8k.structuredContent['stdout']).length < 9_000);
  await call('close_session', { run, ...long });
  const late = await call('run_step', { run, code: '1' });
  assert.equal(late.isError, true);
  assert.match(textIn(late), /open_session to start another one/);
});

test('a step that outlasts the wait is waited for by its number, and one sent twice under a key is one', async () => {
  const run = await open();
  const code = 'open("/work/log", "a").write("once")\nprint("begun", flush=True)\nimport time; time.sleep(1000)';
  const args = { run, code, idempotencyKey: 'k' };
  const begun = await call('run_step', { ...args, waitSeconds: 0 });
  assert.match(textIn(begun), /Call run_step with this run and step, without code/);
  const again = call('run_step', { ...args, ...long });
  await interruptBegun(run, 0);
  const ended = await call('run_step', { run, step: begun.structuredContent['step'], ...long });
  assert.equal(ended.structuredContent['outcome'], 'cancelled');
  assert.deepEqual((await again).structuredContent, ended.structuredContent);
  const log = await call('run_step', { run, code: 'print(open("/work/log").read())', ...long });
  assert.equal(log.structuredContent['stdout'], 'once\n', textIn(log));
  const neither = await call('run_step', { run });
  assert.match(textIn(neither), /Pass either "code", or as "step"/);
  await call('close_session', { run, ...long });
});

test('a refusal of a session or of a step says what would be allowed', async () => {
  const refused = await call('open_session', { limits: { cpus: 500 } });
  assert.match(textIn(refused), /limits\.cpus[\s\S]*What is allowed/);
  const run = await open();
  const step = await call('run_step', { run, language: 'cobol', code: '1' });
  assert.match(textIn(step), /cobol[\s\S]*What is allowed: Your code runs in a sealed cell/);
  await call('close_session', { run, ...long });
});

test('a step whose call is taken back is interrupted, and the session goes on', async () => {
  const run = await open();
  await call('run_step', { run, code: 'x = 1', ...long });
  const leaves = new AbortController();
  const code = 'import time\nx = 2\nprint("begun", flush=True)\ntime.sleep(1000)';
  const asked = callTool(producer, 'run_step', { run, code, ...long }, { signal: leaves.signal });
  const session = (await producer.client()).sessionById(run);
  for await (const { text } of session.logs()) if (text?.includes('begun')) break;
  leaves.abort();
  await assert.rejects(asked, { name: 'AbortError' });
  const { outcome, stderr } = await session.stepEnd(1);
  assert.deepEqual([outcome, /KeyboardInterrupt/.test(stderr ?? '')], ['cancelled', true], stderr);
  assert.equal((await call('run_step', { run, code: 'x', ...long })).structuredContent['shown'], '2');
  await call('close_session', { run, ...long });
});
