import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { KeeperRequest, keeperLineBytes } from '@hotcell/contract/keeper-protocol.ts';
import { readRequest } from '@hotcell/keeper/request-line.ts';
import { testLimits } from '../../support/limits.ts';

let folder: string;
let server: Server;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'line-'));
  server = createServer().listen(join(folder, 's'));
  await once(server, 'listening');
});
after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

/** What the keeper understands of these bytes, in these pieces. */
async function read(...pieces: (string | Uint8Array)[]): Promise<KeeperRequest> {
  const client = connect(join(folder, 's'));
  const [socket] = (await once(server, 'connection')) as [Socket];
  for (const one of [client, socket]) one.on('error', () => undefined);
  try {
    const request = readRequest(socket);
    request.catch(() => undefined);
    for (const piece of pieces) {
      client.write(piece);
      await new Promise(setImmediate);
    }
    client.end();
    return await request;
  } finally {
    client.destroy();
    socket.destroy();
  }
}

const make = {
  ask: 'make',
  cell: '0123456789abcdef',
  worker: 'w1',
  deadline: '2026-01-01T00:00:00.000Z',
  runtime: 'runc',
  image: `sha256:${'a'.repeat(64)}`,
  seccomp: `sha256:${'b'.repeat(64)}`,
  limits: testLimits,
  inputs: [{ from: ['trees', 'one'], target: '/inputs/data' }],
};
const line = (value: unknown) => `${JSON.stringify(value)}\n`;

test('a request is read whole, in whatever pieces it comes', async () => {
  const text = line(make);
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(text.length), { maxLength: 4 }), async (cuts) => {
      const ends = [...cuts.toSorted((a, b) => a - b), text.length];
      const pieces = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end)).filter((one) => one !== '');
      assert.deepEqual(await read(...pieces), make);
    }),
    { numRuns: 30 },
  );
});

test('whatever else comes is refused with a reason, and never a failure of the parser', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((some) => Buffer.concat([some, Buffer.from('\n')])),
    fc.json().map((text) => `${text}\n`),
    fc
      .record({ ask: fc.constantFrom('make', 'kill', 'about', 'constructor', '__proto__') }, { noNullPrototype: true })
      .map(line),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (some) => {
      await read(some).then(
        (request) => assert.doesNotThrow(() => KeeperRequest.parse(request)),
        (error: Error & { code?: string }) => assert.equal(error.code, 'invalid', error.stack),
      );
    }),
    { numRuns: 200 },
  );
});

test('one field changed to anything else is refused, or is still within the ceiling', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(make)), fc.jsonValue(), async (name, value) => {
      const said = await read(line({ ...make, [name]: value })).catch((error: Error & { code?: string }) => error);
      if (said instanceof Error) assert.equal((said as { code?: string }).code, 'invalid');
      else KeeperRequest.parse(said);
    }),
    { numRuns: 200 },
  );
});

const refused: Record<string, unknown> = {
  'a network': { ...make, network: 'host' },
  'a capability': { ...make, capabilities: ['CAP_SYS_ADMIN'] },
  'a device': { ...make, devices: ['/dev/kvm'] },
  'a program': { ...make, args: ['/bin/sh'] },
  'a path of the host': { ...make, inputs: [{ source: '/etc', target: '/inputs' }] },
  'a way up': { ...make, inputs: [{ from: ['trees', '..', '..'], target: '/inputs' }] },
  'a step with a slash': { ...make, inputs: [{ from: ['trees/../..'], target: '/inputs' }] },
  'the staging folder itself': { ...make, inputs: [{ from: ['.'], target: '/inputs' }] },
  'another place in the cell': { ...make, inputs: [{ from: ['trees'], target: '/cell-init' }] },
  'a place that leads out of /inputs': { ...make, inputs: [{ from: ['trees'], target: '/inputs/../etc' }] },
  'a name in place of an image’s digest': { ...make, image: 'hotcell/python:1' },
  'a path in place of an id': { ...make, cell: '../../../etc/cron' },
  'more memory than any cell may have': { ...make, limits: { ...testLimits, memoryBytes: 2 ** 60 } },
  'no bound of processes': { ...make, limits: { ...testLimits, pids: 0 } },
  'a limit less': { ...make, limits: { ...testLimits, pids: undefined } },
  'a limit that is not a number': { ...make, limits: { ...testLimits, cpus: 'Infinity' } },
  'another runtime': { ...make, runtime: 'runc --no-pivot' },
  'an unknown request': { ask: 'exec', cell: make.cell },
};
for (const [what, request] of Object.entries(refused))
  test(`${what} is refused by the schema`, async () => {
    await assert.rejects(read(line(request)), { code: 'invalid' });
  });

test('bytes behind the line are refused: they could be lost to the cell', async () => {
  await assert.rejects(read(`${line(make)}x`), { code: 'invalid', message: /wait for the answer/ });
});

test('a line that does not end is refused at its bound', async () => {
  await assert.rejects(read(Buffer.alloc(keeperLineBytes + 1, 0x20)), { code: 'invalid', message: /longer than/ });
});

test('a connection that ends before its line does is refused', async () => {
  await assert.rejects(read('{"ask":"about"}'), { code: 'invalid', message: /ended before/ });
});
