import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { command } from '@hotcell/setup/command.ts';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { callTool, mcpMessage, toolWithProgress } from '../support/mcp-client.ts';
import { mcpTools } from '../support/mcp-tools.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';

/** MCP's own tools judge the protocol; what runs only echoes. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let tools: Awaited<ReturnType<typeof mcpTools>>;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  tools = await mcpTools(bed);
});
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

/**
 * What the conformance package asks of every server, by revision. Its other scenarios call tools, prompts and resources
 * with names of the package's own, as a server made for it has them.
 */
const scenarios = {
  '2026-07-28': [
    ...['server-stateless', 'tools-list', 'resources-list', 'server-sse-multiple-streams', 'http-header-validation'],
    ...[
      'sep-2164-resource-not-found',
      'dns-rebinding-protection',
      'caching',
      'input-required-result-unsupported-methods',
    ],
  ],
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'resources-list',
    'prompts-list',
    'dns-rebinding-protection',
  ],
} as const;

for (const [revision, names] of Object.entries(scenarios))
  test(`the conformance package of MCP passes for revision ${revision}`, async () => {
    await using proxy = await openHttpProxy(producer.url, { authorization: `Bearer ${await producer.key()}` });
    const results = await bed.folder(`conformance-${revision}`);
    const { stdout, stderr } = await command([
      ...tools.conformance,
      ...['server', '--url', `${proxy.url}/mcp`, '--requirements', revision, '--output-dir', results],
    ]);
    const ran = readdirSync(results);
    const checked = names.map((name) => ran.find((folder) => folder.startsWith(`server-${name}-2`)) ?? `no ${name}`);
    const checks = checked.flatMap((folder) => checksIn(join(results, folder)));
    assert.deepEqual(checks.filter(failedForReal), [], `${stdout}\n${stderr}`);
    assert.ok(checks.some(({ status }) => status === 'SUCCESS'));
  });

test('a client that asks for progress learns a run’s id and where it is while it waits, and then its end', async () => {
  const seen: (string | number)[] = [];
  const asked = { code: 'hold', language: 'sh', waitSeconds: 60 };
  for await (const { method, params, result } of toolWithProgress(producer, 'run_code', asked, 'mine')) {
    if (method === 'notifications/progress') {
      const {
        progressToken,
        progress = 0,
        total,
        message = '',
      } = params as {
        progressToken?: string;
        progress?: number;
        total?: number;
        message?: string;
      };
      assert.deepEqual([progressToken, total], ['mine', 60]);
      assert.ok(seen.every((before) => Number(before) < progress));
      seen.push(progress);
      const [, run = ''] = /^run ([0-9a-f-]{36}) is (?:queued|running)/.exec(message) ?? [];
      // Ends what it waits for. A second message may be on its way.
      if (seen.length === 1) await callTool(producer, 'cancel_job', { run });
    } else if (result) {
      assert.deepEqual([result.isError, result.structuredContent['outcome']], [true, 'cancelled']);
      seen.push('the end');
    }
  }
  assert.ok(seen.length >= 2, 'it was told of progress before the end');
  assert.equal(seen.at(-1), 'the end');
});

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

const checksIn = (folder: string): Check[] => JSON.parse(readFileSync(join(folder, 'checks.json'), 'utf8'));

/** Within a scenario, a check that needs such a tool says itself that it could not be made. */
const failedForReal = ({ status, errorMessage = '' }: Check) =>
  status === 'FAILURE' && !errorMessage.startsWith('Not testable: server does not list the diagnostic tool');

for (const transport of ['HTTP', 'stdio'] as const)
  test(`the inspector of MCP finds nothing wrong with the schemas over ${transport}, and calls a tool`, async () => {
    const key = await producer.key();
    const where =
      transport === 'HTTP'
        ? ['--server-url', `${producer.url}/mcp`, '--transport', 'http', '--header', `authorization: Bearer ${key}`]
        : ['-e', `HOTCELL_URL=${producer.url}`, '-e', `HOTCELL_API_KEY=${key}`, join(checkout, 'hotcell'), 'mcp'];
    const inspect = async (...words: string[]) => {
      const { code, stdout, stderr } = await command([...tools.inspector, '--cli', ...where, ...words]);
      assert.equal(code, 0, `${stdout}\n${stderr}`);
      return JSON.parse(stdout);
    };
    const { tools: listed } = await inspect('--method', 'tools/list', '--strict');
    assert.equal(listed.length, 13);
    const args = ['language=sh', 'code=print hello', 'waitSeconds=60'].flatMap((arg) => ['--tool-arg', arg]);
    const ran = await inspect('--method', 'tools/call', '--tool-name', 'run_code', ...args);
    assert.equal(ran.structuredContent.stdout, 'hello\n');
  });

const sent = (body: unknown, headers: Record<string, string> = {}) =>
  producer.ask('POST', '/mcp', {
    body: JSON.stringify(body),
    headers: { accept: 'application/json, text/event-stream', ...headers },
  });

test('a list of messages, a body that is too large and a page of another origin are refused', async () => {
  const list = Array.from({ length: 3 }, (_, id) => mcpMessage('tools/list', {}, id));
  assert.equal((await sent(list)).status, 400);
  const large = mcpMessage('tools/call', { name: 'run_code', arguments: { code: 'x'.repeat(9 * 1024 * 1024) } });
  assert.equal((await sent(large)).status, 413);
  assert.equal((await sent(mcpMessage('tools/list'), { origin: 'http://evil.example' })).status, 403);
  assert.equal((await producer.ask('GET', '/mcp')).status, 405);
  assert.equal((await producer.ask('POST', '/mcp', { key: 'hc_not_a_key', body: '{}' })).status, 401);
});

test('a tool can do no more than the key of its request', async () => {
  const theirs = await callTool(producer, 'submit_job', { blocks: [{ language: 'sh', code: 'print mine' }] });
  const { run } = theirs.structuredContent;
  const stranger = await producer.key('submitter', 'others');
  const looked = await callTool(producer, 'get_job', { run }, { key: stranger });
  assert.equal(looked.isError, true);
  assert.equal((looked.structuredContent['error'] as { code: string }).code, 'not_found');
  const reader = await producer.key('reader');
  const cancelled = await callTool(producer, 'cancel_job', { run }, { key: reader });
  assert.equal((cancelled.structuredContent['error'] as { code: string }).code, 'forbidden');
});
