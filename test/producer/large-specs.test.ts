import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { z } from 'zod';
import { openBed } from '../support/bed.ts';
import { openHouse } from '../support/house.ts';
import { openHttpProxy } from '../support/http-proxy.ts';
import { startProducer } from '../support/producer.ts';
import { ask } from '../support/slow-client.ts';

const mib = 2 ** 20;
const bed = await openBed();
const proxy = await openHttpProxy(bed.installation.store.endpoint);
const house = await openHouse(bed, { endpoint: proxy.url });
const settings = { HOTCELL_PATIENCE_SECONDS: '600', HOTCELL_BODY_BYTES: String(64 * mib) };
const producer = await startProducer(bed, house, settings);
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

/** No worker serves this house: the run stays open. */
async function submit(key: string, megabytes: number): Promise<string> {
  const files = Array.from({ length: megabytes }, (_, n) => ({ path: `f${n}`, text: 'x'.repeat(mib) }));
  const body = JSON.stringify({ blocks: [{ language: 'sh', code: 'true' }], files });
  const answer = await producer.ask('POST', '/v1/runs', { key, body });
  assert.equal(answer.status, 202);
  return z.object({ run: z.string() }).parse(await answer.json()).run;
}
const readsOf = (run: string) =>
  proxy.seen.filter(({ method, path }) => method === 'GET' && path.endsWith(`${run}/spec.json`)).length;

test('showing an open run does not read its spec again, and a producer that did not accept it reads it once', async () => {
  const key = await producer.key();
  const run = await submit(key, 8);
  const before = readsOf(run);
  const first = await (await producer.ask('GET', `/v1/runs/${run}`, { key })).text();
  for (let n = 0; n < 20; n++) assert.equal((await producer.ask('GET', `/v1/runs/${run}`, { key })).status, 200);
  // The lists of each producer read the record too, a few times.
  const few = 10;
  assert.ok(readsOf(run) - before < few, `${readsOf(run) - before} reads`);
  await using other = await startProducer(bed, house, settings);
  const asked = Array.from({ length: 20 }, () => other.ask('GET', `/v1/runs/${run}`, { key }));
  for (const answer of await Promise.all(asked)) assert.equal(await answer.text(), first);
  assert.ok(readsOf(run) - before < 2 * few, `${readsOf(run) - before} reads`);
});

test('those who read specs and take nothing of them hold a share, and others read beside them', async () => {
  const [theirs, others] = [await producer.key(), await producer.key('submitter', bed.tenant())];
  const [large, small] = [await submit(theirs, 20), await submit(others, 1)];
  const before = readsOf(large);
  await using stack = new AsyncDisposableStack();
  const slow = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const client = stack.use(await ask(producer.url, `GET /v1/runs/${large}/spec`, { key: theirs }));
      client.socket.once('data', () => client.socket.pause());
      return client;
    }),
  );
  await Promise.race(slow.map((client) => client.saw('200 OK')));
  const spec = await producer.ask('GET', `/v1/runs/${small}/spec`, {
    key: others,
    signal: AbortSignal.timeout(60_000),
  });
  assert.equal(z.looseObject({ run: z.string() }).parse(await spec.json()).run, small);
  // One is read for an answer, in two requests: how large it is shows in the first. Six would be twelve.
  assert.ok(readsOf(large) - before < 6, `${readsOf(large) - before} reads`);
});
