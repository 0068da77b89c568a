import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Engine } from '@hotcell/outside/engine/engine.ts';
import { z } from 'zod';
import { type Bed, engineSocket, openBed } from '../support/bed.ts';
import { type House, openHouse } from '../support/house.ts';
import { type RunningProducer, startProducer } from '../support/producer.ts';
import { keysOf } from '../support/promise.ts';

let bed: Bed;
let house: House;
let producer: RunningProducer;

before(async () => {
  bed = await openBed();
  house = await openHouse(bed);
  producer = await startProducer(bed, house);
});
after(async () => {
  await producer[Symbol.asyncDispose]();
  await house.clearFinished();
  await house[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

const Refusal = z.looseObject({
  code: z.string(),
  run: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })),
  detail: z.string(),
});

const blocks = [{ language: 'python', code: 'print(1)' }];

async function send(body: string): Promise<{ status: number; refusal: z.infer<typeof Refusal> }> {
  const answer = await producer.ask('POST', '/v1/runs', { body });
  return { status: answer.status, refusal: Refusal.parse(await answer.json()) };
}

/** Checks that there is no ticket, no open marker and no cell. */
async function nothingHappened(): Promise<void> {
  for (const queue of ['runc', 'gvisor']) assert.equal(await house.producer.queues.of(queue).depth(), 0, queue);
  assert.deepEqual(await keysOf(house.store, house.store.work, 'open/'), []);
  const specs = (await keysOf(house.store, house.store.record, 'runs/')).filter((key) => key.endsWith('/spec.json'));
  assert.deepEqual(specs, []);
  const engine = new Engine(engineSocket);
  assert.deepEqual(await engine.list([`hotcell.installation=${house.id}`]), []);
}

async function refusedFor(more: object, status: 400 | 422, says: RegExp, path?: string): Promise<void> {
  const { status: is, refusal } = await send(JSON.stringify({ blocks, ...more }));
  const shown = JSON.stringify(refusal);
  assert.equal(is, status, shown);
  const reason = refusal.errors.find((error) => path === undefined || error.path === path);
  assert.match(reason?.message ?? '', says, shown);
  if (status === 422) assert.equal(refusal.code, 'policy_refused');
  await nothingHappened();
}

describe('a store’s address in a request', () => {
  for (const key of ['endpoint', 's3Endpoint', 's3', 'bucket', 'credentials', 'registry'])
    test(`as ${key} is refused: it is the operator’s`, async () => {
      await refusedFor({ [key]: 'http://169.254.169.254/latest' }, 400, /The operator sets this/, key);
    });

  for (const source of [
    'http://169.254.169.254/latest',
    'file:///etc/passwd',
    '/etc/passwd',
    '../../etc/passwd',
    's3://evil@10.0.0.1:9000/bucket/',
  ])
    test(`as the input ${source} is refused`, async () => {
      await refusedFor({ inputs: { data: source } }, 422, /./, 'inputs.data');
    });

  test('as an object instead of a string is refused', async () => {
    await refusedFor({ inputs: { data: { bucket: 'x', endpoint: 'http://10.0.0.1' } } }, 400, /./, 'inputs.data');
  });
});

describe('rights, mounts and networks in a request', () => {
  const bodies: [name: string, more: object, path: string][] = [
    ['user', { user: 'root' }, 'user'],
    ['runtime', { runtime: 'runc' }, 'runtime'],
    ['binds', { binds: ['/:/host'] }, 'binds'],
    ['volumes', { extra_volumes: { '/': { bind: '/host' } } }, 'extra_volumes'],
    ['caps', { cap_add: ['SYS_ADMIN'] }, 'cap_add'],
    ['privileged', { privileged: true }, 'privileged'],
    ['devices', { devices: ['/dev/kvm'] }, 'devices'],
    ['HostConfig', { HostConfig: { Privileged: true } }, 'HostConfig'],
    ['network', { network: 'host' }, 'network'],
    ['extra_hosts', { extra_hosts: { a: '10.0.0.1' } }, 'extra_hosts'],
    ['init_command', { init_command: 'pip install x' }, 'init_command'],
    ['a user in a block', { blocks: [{ argv: ['id'], user: '0' }] }, 'blocks[0].user'],
    ['a network in limits', { limits: { network: 1 } }, 'limits.network'],
    ['another tenant', { tenant: 'somebody' }, 'tenant'],
  ];
  for (const [name, more, path] of bodies)
    test(`${name} cannot be said`, async () => await refusedFor(more, 400, /./, path));
});

describe('variables that change which code is run', () => {
  for (const name of [
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'NODE_OPTIONS',
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'BASH_ENV',
    'PATH',
    'HOME',
    'HOTCELL_INPUTS',
  ])
    test(`${name} is refused by every policy`, async () => {
      await refusedFor({ env: { [name]: '/inputs/x' } }, 422, /No policy lets a job set/, `env.${name}`);
      await refusedFor(
        { env: { [name]: '/inputs/x' }, policy: 'analytics' },
        422,
        /No policy lets a job set/,
        `env.${name}`,
      );
    });
});

describe('an image', () => {
  for (const image of [
    'docker.io/library/python:3',
    'python:latest',
    'python --privileged',
    '--privileged',
    'python@sha256:0',
    '../python',
    'PYTHON',
    'store',
    'service',
    `evil@sha256:${'0'.repeat(64)}`,
  ])
    test(`called ${image} is refused`, async () => {
      await refusedFor({ image }, 422, /^Policy \S+ (?:doesn't allow|pins) the image/, 'image');
    });
});

describe('a body that is made to hurt', () => {
  test('by __proto__ is refused and changes no other request', async () => {
    const { status } = await send('{"blocks":[{"language":"python","code":""}],"__proto__":{"policy":"analytics"}}');
    assert.equal(status, 400);
    const { status: inner } = await send('{"blocks":[{"language":"python","code":""}],"params":{"__proto__":{"x":1}}}');
    assert.equal(inner, 400);
    await nothingHappened();
    await refusedFor({ user: 'x' }, 400, /./, 'user');
  });

  test('by constructor and prototype is refused', async () => {
    const { status, refusal } = await send(
      '{"blocks":[{"language":"python","code":""}],"constructor":{"prototype":{"admitted":true}}}',
    );
    assert.equal(status, 400);
    assert.equal(refusal.errors[0]?.path, 'constructor');
    await nothingHappened();
  });

  test('by its depth is refused', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const { status } = await send(`{"blocks":[{"language":"python","code":""}],"params":${deep}}`);
    assert.equal(status, 400);
    await nothingHappened();
  });

  test('by invalid or missing JSON is refused', async () => {
    for (const body of ['', '{', 'null', '[]', '"x"', '{"blocks":']) assert.equal((await send(body)).status, 400, body);
    await nothingHappened();
  });

  test('by the size of its code is refused', async () => {
    const { status } = await send(
      JSON.stringify({ blocks: [{ language: 'python', code: 'x'.repeat(5 * 1024 * 1024) }] }),
    );
    assert.ok(status === 400 || status === 413, String(status));
    await nothingHappened();
  });
});

describe('a refusal', () => {
  test('names every reason at once and is recorded under an id', async () => {
    const { status, refusal } = await send(
      JSON.stringify({
        blocks: [{ language: 'cobol', code: '' }],
        image: 'evil',
        limits: { memoryBytes: 2 ** 40, timeoutSeconds: 10_000 },
        env: { LD_PRELOAD: 'x' },
      }),
    );
    assert.equal(status, 422);
    assert.deepEqual(refusal.errors.map(({ path }) => path).toSorted(), [
      'blocks[0].language',
      'env.LD_PRELOAD',
      'image',
      'limits.memoryBytes',
      'limits.timeoutSeconds',
    ]);
    const shown = await producer.ask('GET', `/v1/runs/${refusal.run}`);
    const { outcome, errors } = z
      .looseObject({ outcome: z.string(), errors: z.array(z.unknown()) })
      .parse(await shown.json());
    assert.equal(outcome, 'rejected');
    assert.equal(errors.length, 5);
    const why = await producer.ask('GET', `/v1/runs/${refusal.run}/policy`);
    const explained = z.looseObject({ admitted: z.boolean(), reasons: z.array(z.unknown()) }).parse(await why.json());
    assert.equal(explained.admitted, false);
    assert.equal(explained.reasons.length, 5);
    await nothingHappened();
  });

  test('comes from policies that need a feature that does not exist, and for unknown policies', async () => {
    await refusedFor({ policy: 'reviewed' }, 422, /^approval_unavailable: /, 'policy');
    await refusedFor({ policy: 'seald' }, 422, /Policy not found: seald\. Did you mean sealed\?/, 'policy');
  });
});

describe('policies over HTTP', () => {
  test('are listed and shown merged, with their digest', async () => {
    const listed = await producer.ask('GET', '/v1/policies');
    const { policies, problems } = z
      .looseObject({
        policies: z.array(z.looseObject({ name: z.string(), digest: z.string() })),
        problems: z.array(z.unknown()),
      })
      .parse(await listed.json());
    assert.deepEqual(
      policies.map(({ name }) => name),
      ['analytics', 'hostile-gvisor', 'node', 'sealed'],
    );
    assert.deepEqual(problems, []);
    const sealed = policies.find(({ name }) => name === 'sealed');
    for (const named of ['sealed', sealed?.digest ?? '']) {
      const shown = await producer.ask('GET', `/v1/policies/${encodeURIComponent(named)}`);
      assert.equal(z.looseObject({ digest: z.string() }).parse(await shown.json()).digest, sealed?.digest);
    }
    assert.equal((await producer.ask('GET', '/v1/policies/nope')).status, 404);
  });

  test('are revoked only by an admin of the operator’s tenant, and refuse from then on', async () => {
    const shown = await producer.ask('GET', '/v1/policies/hostile-gvisor');
    const { digest } = z.looseObject({ digest: z.string() }).parse(await shown.json());
    const path = `/v1/policies/${encodeURIComponent(digest)}/revoke`;
    const body = JSON.stringify({ reason: 'only a test' });
    assert.equal((await producer.ask('POST', path, { body })).status, 403);
    assert.equal((await producer.ask('POST', path, { body, key: await producer.key('admin') })).status, 403);
    const operator = await producer.key('admin', 'default');
    assert.equal((await producer.ask('POST', path, { body: '{}', key: operator })).status, 400);
    assert.equal((await producer.ask('POST', path, { body, key: operator })).status, 200);
    await refusedFor({ policy: 'hostile-gvisor' }, 422, /was revoked at .*: only a test/, 'policy');
  });
});
