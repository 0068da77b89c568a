import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Hotcell } from '@hotcell/client/index.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { echoOn } from '../support/echo-on.ts';
import { type House, openHouse } from '../support/house.ts';
import { type HttpProxy, openHttpProxy, type Seen } from '../support/http-proxy.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';

/** A gateway between the TypeScript SDK and the API that answers by itself, in words that are not Hotcell's. */
let bed: Bed;
let house: House;
let producer: RunningProducer;
let gateway: HttpProxy;
let hotcell: Hotcell;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
  await house.worker('one', { env: { HOTCELL_QUEUES: 'runc' }, steps: echoOn('runc') });
  gateway = await openHttpProxy(producer.url);
  hotcell = new Hotcell({ url: gateway.url, apiKey: await producer.key() });
});
after(async () => {
  await gateway[Symbol.asyncDispose]();
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

/** Each of these requests gets this answer once. */
function answersOnce(status: number, matches: (seen: Seen) => boolean): void {
  const hit = new Set<string>();
  gateway.fault = (seen) => {
    const one = `${seen.method} ${seen.path}`;
    if (!matches(seen) || hit.has(one)) return undefined;
    hit.add(one);
    return { kind: 'status', status };
  };
}

const asked = (method: string, path: string) =>
  gateway.seen.filter((seen) => seen.method === method && seen.path === path).length;

for (const status of [502, 503, 504])
  test(`a submission and a wait that a gateway answers with ${status} are repeated, and there is one run`, async () => {
    answersOnce(status, () => true);
    const before = asked('POST', '/v1/runs');
    const label = `gateway-${status}`;
    const { run, stdout } = await hotcell.run('print through', { language: 'sh', labels: { of: label } });
    assert.equal(stdout, 'through\n');
    assert.deepEqual([asked('POST', '/v1/runs') - before, asked('GET', `/v1/runs/${run}`)], [2, 2]);
    const { runs } = await (await producer.client()).list({ label: `of=${label}` });
    assert.deepEqual(
      runs.map((one) => one.run),
      [run],
    );
  });

test('a session that a gateway did not pass on is started by the second try', async () => {
  answersOnce(502, ({ path }) => path === '/v1/sessions');
  const session = await hotcell.session();
  assert.equal((await session.result()).run, session.id);
  assert.equal(asked('POST', '/v1/sessions'), 2);
});

test('what would be done twice is not repeated, and the error says that the API may be away', async () => {
  gateway.fault = () => undefined;
  const run = await hotcell.submit({ blocks: [{ language: 'sh', code: 'print once' }] });
  answersOnce(504, () => true);
  await assert.rejects(run.rerun(), { code: 'api_unreachable', message: /answered 504 without a reason.*HOTCELL_URL/ });
  assert.equal(asked('POST', `/v1/runs/${run.id}/rerun`), 1);
  gateway.fault = () => ({ kind: 'status', status: 404 });
  await assert.rejects(run.result(), { code: 'internal', message: /answered 404 without a reason.*HOTCELL_URL/ });
});

test('an idempotency key that no header can carry is refused by its name before anything is sent', async () => {
  gateway.fault = () => undefined;
  const sent = gateway.seen.length;
  for (const idempotencyKey of ['ключ', 'a b', '', 'x'.repeat(256), 'a\nb'])
    for (const ask of [() => hotcell.run('1', { idempotencyKey }), () => hotcell.session({ idempotencyKey })])
      await assert.rejects(ask, { code: 'invalid', message: /idempotency-key: must be 1 to 255 printable ASCII/ });
  assert.equal(gateway.seen.length, sent);
});
