import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { problemOf } from '../support/problem.ts';
import { settle, startProducer } from '../support/producer.ts';
import { ask } from '../support/slow-client.ts';
import { until } from '../support/until.ts';

const size = 16 * 2 ** 20;
const bed = await openBed();
const proxy = await openHttpProxy(bed.installation.store.endpoint);
const house = await openHouse(bed, { endpoint: proxy.url });
/** Cuts no slow reader off while a test lasts. */
const patient = await startProducer(bed, house, { HOTCELL_PATIENCE_SECONDS: '600', HOTCELL_STREAMS: '40' });
const strict = await startProducer(bed, house, { HOTCELL_PATIENCE_SECONDS: '1' });
await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
const key = await patient.key();
const big = await (await patient.client()).submit({ blocks: [{ language: 'sh', code: `big ${size}` }] });
const [file] = (await big.result()).outputs.files;
assert.equal(file?.size, size);
after(async () => {
  await strict[Symbol.asyncDispose]();
  await settle(house, patient);
  await house[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const download = `GET /v1/runs/${big.id}/outputs/${file?.path}`;
const soon = () => AbortSignal.timeout(25_000);
const body = JSON.stringify({ blocks: [{ language: 'sh', code: 'hold' }] });

/** A client that takes the beginning of an answer and then nothing more. */
async function startOf(url: string, line: string, apiKey = key) {
  const client = await ask(url, line, { key: apiKey });
  client.socket.once('data', () => client.socket.pause());
  return client;
}

test('downloads that their clients don’t read leave connections to keys and acceptance, and to other downloads', async () => {
  await using stack = new AsyncDisposableStack();
  for (let n = 0; n < 80; n++) stack.use(await startOf(patient.url, download));
  const other = bed.tenant();
  // Each key is looked up in the store.
  const [submitter, reader] = [await patient.key('submitter', other), await patient.key('reader', house.tenant)];
  const accepted = await patient.ask('POST', '/v1/runs', { key: submitter, body, signal: soon() });
  assert.equal(accepted.status, 202);
  const { run } = (await accepted.json()) as { run: string };
  assert.equal((await patient.ask('GET', `/v1/runs/${big.id}`, { key: reader, signal: soon() })).status, 200);
  await patient.ask('POST', `/v1/runs/${run}/cancel`, { key: submitter });
  const theirs = await (await patient.client('submitter', other)).submit({
    blocks: [{ language: 'sh', code: 'output x' }],
  });
  await theirs.result({ signal: soon() });
  const answer = await patient.ask('GET', `/v1/runs/${theirs.id}/outputs/out.txt`, { key: submitter, signal: soon() });
  assert.equal(await answer.text(), 'x');
});

test('a reader that takes nothing more is cut off, and one that only pauses gets everything', async () => {
  await using slow = await startOf(strict.url, download);
  await strict.child.saying('took its answer too slowly');
  slow.socket.resume();
  const got = (await slow.all).length;
  assert.ok(got < size, `${got} bytes came`);
  const whole = await strict.ask('GET', download.slice('GET '.length));
  assert.equal((await whole.bytes()).length, size);
});

test('a tenant’s streams and waits are a share: the next gets 429, other tenants theirs, and a run is accepted without its wait', async () => {
  const { id } = await (await patient.client()).submit({ blocks: [{ language: 'sh', code: 'hold' }] });
  const follow = `GET /v1/runs/${id}/events`;
  const open = await Promise.all(Array.from({ length: 20 }, () => ask(patient.url, follow, { key })));
  for (const one of open) await one.saw('200 OK');
  const wait = { prefer: 'wait=5' };
  for (const [path, headers] of [
    [`/v1/runs/${id}/events`, {}],
    [`/v1/runs/${id}/logs`, {}],
    [`/v1/runs/${id}`, wait],
  ] as const) {
    const refused = await patient.ask('GET', path, { headers });
    assert.equal(refused.headers.get('retry-after'), '5');
    const problem = await problemOf(refused);
    assert.deepEqual([problem.status, problem.code, problem['limit']], [429, 'too_many', 'streams'], path);
  }
  const submitted = await patient.ask('POST', '/v1/runs', { body, headers: wait });
  assert.equal(submitted.status, 202);
  assert.equal(submitted.headers.get('preference-applied'), null);
  const { run: unwaited } = (await submitted.json()) as { run: string };
  const other = await patient.key('submitter', bed.tenant());
  const theirs = await patient.ask('POST', '/v1/runs', { key: other, body, headers: { prefer: 'wait=1' } });
  assert.equal(theirs.headers.get('preference-applied'), 'wait=1');
  const { run } = (await theirs.json()) as { run: string };
  await open[0]?.[Symbol.asyncDispose]();
  const client = await patient.client();
  for (const one of [id, unwaited]) await client.runById(one).cancel();
  // Told to try again, the SDK does.
  for (const one of [id, unwaited]) assert.equal((await client.runById(one).result()).outcome, 'cancelled');
  for (const one of open) await one[Symbol.asyncDispose]();
  await patient.ask('POST', `/v1/runs/${run}/cancel`, { key: other });
});

test('however many follow a run, they share what is read of it', async () => {
  const run = await (await patient.client()).submit({ blocks: [{ language: 'sh', code: 'print one\nhold' }] });
  await until('the run is running', async () => (await run.show()).status === 'running');
  const seen = () => proxy.seen.slice(from);
  const lists = () =>
    seen().filter(
      ({ query }) => query.includes(encodeURIComponent(`logs/${run.id}`)) || query.includes(`logs/${run.id}`),
    );
  const from = proxy.seen.length;
  const begun = performance.now();
  const followers = await Promise.all(
    Array.from({ length: 18 }, () => ask(patient.url, `GET /v1/runs/${run.id}/events`, { key })),
  );
  for (const follower of followers) await follower.saw('"one');
  await until('the segments were looked for several times', async () => lists().length >= 4);
  // At most once in five seconds behind each of two places: the start, and the last segment.
  const most = 2 * (Math.ceil((performance.now() - begun) / 5_000) + 1);
  assert.ok(lists().length <= most, `${lists().length} lists, at most ${most}`);
  await run.cancel();
  for (const follower of followers) {
    await follower.saw('"type":"result"');
    await follower[Symbol.asyncDispose]();
  }
});
