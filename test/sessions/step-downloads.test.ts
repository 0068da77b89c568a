import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Session } from '@hotcell/client/index.ts';
import { type Bed, openBed } from '../support/bed.ts';
import type { Child } from '../support/child.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { spawnWorker } from '../support/real-worker.ts';
import { ask, type SlowClient } from '../support/slow-client.ts';
import { until } from '../support/until.ts';

/** What steps left beside their results is read like a run's outputs: a tenant has only so many downloads at once. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let worker: Child;
let session: Session;
let key: string;

/** More than the connections between a reader that stopped and the producer hold. */
const size = 8_000_000;
/** Half of what a producer has. */
const atOnce = 32;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  // Cuts no slow reader off while the test lasts.
  producer = await startProducer(bed, house, { HOTCELL_PATIENCE_SECONDS: '600' });
  worker = await spawnWorker(bed, house, 'one');
  key = await producer.key();
  session = await (await producer.client()).session({ policy: 'sealed' });
});
after(async () => {
  await settle(house, producer);
  await worker.stop();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

test('a tenant’s reads of what steps left count as its downloads, and the next one waits', async () => {
  const shown = await session.run(`display({"application/octet-stream": bytes(${size})}, raw=True)`);
  assert.equal(shown.outputs[0]?.size, size, shown.reason);
  const wrote = await session.run('print("x" * 100_000)');
  const path = `/v1/runs/${session.id}/steps`;
  await using stack = new AsyncDisposableStack();
  const begun = new Set<SlowClient>();
  const clients: SlowClient[] = [];
  const full = Promise.withResolvers<void>();
  for (let n = 0; n <= atOnce; n++) {
    const client = stack.use(await ask(producer.url, `GET ${path}/${shown.index}/outputs/0`, { key }));
    client.socket.once('data', () => {
      client.socket.pause();
      if (begun.add(client).size === atOnce) full.resolve();
    });
    clients.push(client);
  }
  await full.promise;
  const answered = new Set<string>();
  const [view, log] = ['', '/logs'].map(async (end) => {
    const answer = await producer.ask('GET', `${path}/${wrote.index}${end}`);
    const text = await answer.text();
    answered.add(end);
    return text;
  });
  // What stands in a step's result is no download, and is answered at once.
  assert.equal((await producer.ask('GET', `${path}/${shown.index}`)).status, 200);
  const operator = await producer.key('admin', 'default');
  await until('the last download, the view and the log wait', async (note) =>
    note(await (await producer.ask('GET', '/metrics', { key: operator })).text()).includes(
      'hotcell_requests_waiting{limit="downloads"} 3\n',
    ),
  );
  assert.deepEqual([begun.size, answered.size], [atOnce, 0]);
  const last = clients.find((client) => !begun.has(client));
  for (const client of begun) await client[Symbol.asyncDispose]();
  assert.match((await view) ?? '', /left out/);
  assert.ok(((await log) ?? '').length > 100_000);
  await last?.saw('200 OK');
  assert.equal((await session.shown(shown.index, 0)).length, size);
  await session.finish();
});
