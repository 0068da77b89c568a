import assert from 'node:assert/strict';
import { appendFile, cp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { checkout } from '@hotcell/setup/settings/installation.ts';
import { z } from 'zod';
import { type Bed, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { problemOf } from '../support/problem.ts';
import { type RunningProducer, settle, startProducer } from '../support/producer.ts';
import { until } from '../support/until.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;
let policies: string;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  policies = await bed.folder('policies');
  await cp(join(checkout, 'policies'), policies, { recursive: true });
  producer = await startProducer(bed, house, { HOTCELL_POLICIES: policies });
});
after(async () => {
  await settle(house, producer);
  await house[Symbol.asyncDispose]();
  await rm(policies, { recursive: true, force: true });
  await bed[Symbol.asyncDispose]();
});

const Line = z.looseObject({ msg: z.string(), requestId: z.string().optional(), audit: z.string().optional() });

async function logged(what: string, fits: (line: z.infer<typeof Line>) => boolean) {
  let found: z.infer<typeof Line> | undefined;
  await until(`the log has ${what}`, async () => {
    const lines = producer.child
      .said()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'));
    found = lines.map((line) => Line.parse(JSON.parse(line))).find(fits);
    return found !== undefined;
  });
  return found ?? assert.fail();
}

test('the requestId of every refusal is in the log, with who asked for what, and not with the query', async () => {
  const missing = '01890000-0000-7000-8000-000000000000';
  const notFound = await problemOf(await producer.ask('GET', `/v1/runs/${missing}?include=posture`));
  const line = await logged('the refusal', ({ requestId }) => requestId === notFound['requestId']);
  assert.deepEqual(
    [line['status'], line['operation'], line['path'], line['tenant'], line['role']],
    [404, 'getRun', `/v1/runs/${missing}`, house.tenant, 'submitter'],
  );
  // What a key may not do is refused before anything else, and still says whose key it was.
  const forbidden = await problemOf(await producer.ask('GET', '/v1/workers'));
  const denied = await logged('the denial', ({ requestId }) => requestId === forbidden['requestId']);
  assert.deepEqual(
    [denied['status'], denied['tenant'], denied['role'], typeof denied['key']],
    [403, house.tenant, 'submitter', 'string'],
  );
  const stranger = await problemOf(await producer.ask('GET', '/v1/runs', { key: 'nope' }));
  const refused = await logged('the unknown key', ({ requestId }) => requestId === stranger['requestId']);
  assert.deepEqual([refused['status'], refused['address'], refused['key']], [401, '127.0.0.1', undefined]);
});

test('what is not even HTTP is logged under the id that its sender is told', async () => {
  const { hostname, port } = new URL(producer.url);
  const socket = connect(Number(port), hostname);
  socket.write('nonsense\r\n\r\n');
  const [, id] = /"requestId":"([^"]+)"/.exec(String(Buffer.concat(await socket.toArray()))) ?? [];
  await logged('the nonsense', ({ requestId }) => requestId === id);
});

test('a request that changes something for others leaves a line with who, what and which', async () => {
  const admin = await producer.key('admin');
  const asJson = async (answer: Response) => z.looseObject({}).parse(await answer.json());
  const made = await asJson(
    await producer.ask('POST', '/v1/apikeys', { key: admin, body: JSON.stringify({ role: 'reader', label: 'x' }) }),
  );
  const created = await logged('the new key', ({ audit }) => audit === 'createApiKey');
  assert.deepEqual([created['role'], created['tenant'], created['status']], ['admin', house.tenant, 201]);
  assert.ok(!producer.child.said().includes(String(made['key'])), 'and never the key itself');
  await producer.ask('DELETE', `/v1/apikeys/${String(made['id'])}`, { key: admin });
  const revoked = await logged('the revocation', ({ audit }) => audit === 'revokeApiKey');
  assert.deepEqual(revoked['params'], { id: made['id'] });
  const body = JSON.stringify({ blocks: [{ language: 'bash', code: 'true' }] });
  const { run } = await asJson(await producer.ask('POST', '/v1/runs', { body }));
  await producer.ask('POST', `/v1/runs/${String(run)}/cancel`);
  const cancelled = await logged('the cancel', ({ audit }) => audit === 'cancelRun');
  assert.deepEqual(cancelled['params'], { run });
});

test('an edited policy leaves a line with both digests', async () => {
  await producer.ask('GET', '/v1/policies');
  await appendFile(join(policies, 'sealed.yaml'), '\n# edited\n');
  await appendFile(join(policies, 'node.yaml'), '\nretries: 1\n');
  await until('the producer has read it', async () => {
    await producer.ask('GET', '/v1/policies');
    return producer.child.said().includes('"policy":"node"');
  });
  const line = await logged('the edit', ({ audit }) => audit === 'policy');
  assert.equal(line['policy'], 'node', 'a comment changes no policy');
  assert.match(`${String(line['from'])} ${String(line['to'])}`, /^sha256:\w{64} sha256:\w{64}$/);
});
