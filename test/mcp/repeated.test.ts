import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openEndpoint } from '@hotcell/mcp/http-endpoint.ts';
import { OwnApi } from '@hotcell/producer/tools/own-api.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { type HttpProxy, openHttpProxy } from '../support/http-proxy.ts';
import { callTool, mcpMessage, textIn, type ToolAnswer } from '../support/mcp-client.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

/** Calls that a client repeats because it saw no answer; what runs only echoes. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let proxy: HttpProxy;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  // A tenant's share of it holds one of the large bodies below, and not two.
  producer = await startProducer(bed, house, {
    HOTCELL_BODY_BYTES: String(16 * 1024 ** 2),
    HOTCELL_PATIENCE_SECONDS: '600',
  });
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  proxy = await openHttpProxy(producer.url);
});
after(async () => {
  await proxy[Symbol.asyncDispose]();
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

/** A tool of this process that asks the producer through the proxy. */
async function callThrough(name: string, args: object, signal?: AbortSignal): Promise<ToolAnswer> {
  const key = { authorization: `Bearer ${await producer.key()}` };
  const endpoint = openEndpoint({
    servedFor: async () => ({ api: new OwnApi(proxy.url, key), cell: undefined }),
    failed: (error) => assert.fail(error),
  });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  const request = new Request(`${proxy.url}/mcp`, { method: 'POST', headers, ...(signal && { signal }) });
  const answer = await endpoint(request, mcpMessage('tools/call', { name, arguments: args }));
  return ((await answer.json()) as { result: ToolAnswer }).result;
}

const runsWith = async (label: string) => (await (await producer.client()).list({ label: `of=${label}` })).runs;

for (const [name, code] of [
  ['run_code', { language: 'sh', code: 'print once' }],
  ['submit_job', { blocks: [{ language: 'sh', code: 'print once' }] }],
] as const)
  test(`a ${name} whose answer from the API is lost names a key, under which it is no second run`, async () => {
    const args = { ...code, labels: { of: name } };
    proxy.fault = ({ path }) => (path === '/v1/runs' ? { kind: 'lose_answer' } : undefined);
    const lost = await callThrough(name, args);
    proxy.fault = () => undefined;
    assert.equal(lost.isError, true);
    const [, idempotencyKey] = /"(mcp-[0-9a-f-]+)" as idempotencyKey/.exec(textIn(lost)) ?? [];
    const again = await callThrough(name, { ...args, idempotencyKey });
    assert.equal(again.isError, undefined, textIn(again));
    assert.deepEqual(
      (await runsWith(name)).map(({ run }) => run),
      [again.structuredContent.run],
    );
  });

test('a job whose caller leaves before it is told the id is ended', async () => {
  const leaves = new AbortController();
  proxy.fault = ({ method, path }) => {
    if (method === 'POST' && path === '/v1/runs') leaves.abort();
    return undefined;
  };
  const job = { blocks: [{ language: 'sh', code: 'hold' }], labels: { of: 'left' } };
  // What becomes of the call is the server package's: its caller is gone.
  await callThrough('submit_job', job, leaves.signal).catch(() => undefined);
  proxy.fault = () => undefined;
  const client = await producer.client();
  const run = await until('the run is listed', async () => (await runsWith('left'))[0]?.run);
  const { outcome, reason } = await client.runById(run).result();
  assert.deepEqual([outcome, /took its call back/.test(reason)], ['cancelled', true], reason);
});

test('a key that no header can carry is refused by its name, and not as an API that is away', async () => {
  const refused = await callThrough('run_code', { language: 'sh', code: 'print 1', idempotencyKey: 'ключ' });
  assert.match(textIn(refused), /idempotency-key: must be 1 to 255 printable ASCII characters/);
});

test('a large message does not wait for the room that it holds itself', async () => {
  // Held until its answer, it would leave no room for the request that its tool makes.
  const files = Array.from({ length: 3 }, (_, n) => ({ path: `${n}.txt`, text: 'x'.repeat(1024 ** 2) }));
  const ran = await callTool(producer, 'run_code', { language: 'sh', code: 'print large', files, waitSeconds: 60 });
  assert.equal(ran.structuredContent['stdout'], 'large\n', textIn(ran));
});
