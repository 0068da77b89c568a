import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { serve } from '@hotcell/keeper/answer.ts';
import { testLimits } from '../../support/limits.ts';

const about = { machine: 'x86_64', runtimes: {}, cgroups: '2', userNamespaces: true, boundsDisks: true };

type Asked = Parameters<typeof serve>[0];

let folder: string;
let server: Server;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'answer-'));
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});
const path = () => join(folder, 'keeper.sock');
const cell = '0123456789abcdef';

/** A keeper with one cell, of which the calls are noted. */
function keeper(more: Partial<Asked> = {}) {
  const calls: unknown[] = [];
  const kept = {
    end: async (withinMs: number) => ({ hasEnded: true, exitCode: withinMs, said: 'bye' }),
    memory: () => ({ kills: 2, atLimit: true }),
    kill: async () => void calls.push('kill'),
  };
  const asked = {
    parts: {
      about,
      init: { digest: sha256('init') },
      installed: { root: () => ({ path: '', note: { env: { A: 'b' } } }) },
    },
    get: (id: string) => {
      if (id !== cell) throw new HotcellError('not_found', `There is no cell ${id}.`);
      return kept;
    },
    list: () => [{ cell, worker: 'w', deadline: 'd', hasEnded: false }],
    remove: async (id: string) => {
      calls.push(`remove ${id}`);
      return false;
    },
    make: async () => assert.fail('no cell was asked for'),
    ...more,
  } as unknown as Asked;
  return { asked, calls };
}

/** One request, and everything that comes back. */
async function ask(request: unknown): Promise<unknown> {
  const socket = connect(path());
  socket.write(`${JSON.stringify(request)}\n`);
  return JSON.parse(await text(socket)) as unknown;
}

test('each question has its answer, and the connection ends with it', async () => {
  const { asked, calls } = keeper();
  server = await serve(asked, path());
  assert.deepEqual(await ask({ ask: 'about' }), { ok: { ...about, init: sha256('init') } });
  assert.deepEqual(await ask({ ask: 'image', image: sha256('i') }), { ok: { env: { A: 'b' } } });
  assert.deepEqual(await ask({ ask: 'list' }), { ok: [{ cell, worker: 'w', deadline: 'd', hasEnded: false }] });
  assert.deepEqual(await ask({ ask: 'end', cell, withinMs: 7 }), { ok: { hasEnded: true, exitCode: 7, said: 'bye' } });
  assert.deepEqual(await ask({ ask: 'memory', cell }), { ok: { kills: 2, atLimit: true } });
  assert.deepEqual(await ask({ ask: 'kill', cell }), { ok: {} });
  assert.deepEqual(await ask({ ask: 'remove', cell }), { ok: { isGone: false } });
  assert.deepEqual(calls, ['kill', `remove ${cell}`]);
});

test('a refusal comes with its code, and a failure of the keeper itself as internal', async () => {
  server = await serve(keeper({ list: () => assert.fail('broken') }).asked, path());
  const codeOf = async (request: unknown) => ((await ask(request)) as { error: { code: string } }).error.code;
  assert.equal(await codeOf({ ask: 'memory', cell: 'ffffffffffffffff' }), 'not_found');
  assert.equal(await codeOf({ ask: 'sing' }), 'invalid');
  assert.equal(await codeOf({ ask: 'list' }), 'internal');
});

const order = {
  ...{ ask: 'make', cell, worker: 'w', deadline: '2026-01-01T00:00:00.000Z', runtime: 'runc', limits: testLimits },
  ...{ image: sha256('i'), seccomp: sha256('s'), inputs: [] },
};

test('a cell’s connection is given over in the moment of the answer, and carries what the cell says from then on', async () => {
  const make: Asked['make'] = async ({ cell: id }, go) => {
    const socket = go(10_000);
    socket.end(`I am ${id}`);
  };
  server = await serve(keeper({ make }).asked, path());
  const socket = connect(path());
  socket.write(`${JSON.stringify(order)}\n`);
  assert.equal(await text(socket), `{"ok":{"uid":10000}}\nI am ${cell}`);
});

test('a cell that cannot be made is refused on its connection', async () => {
  const make: Asked['make'] = async () => {
    throw new HotcellError('image_missing', 'It is not here.');
  };
  server = await serve(keeper({ make }).asked, path());
  assert.deepEqual(await ask(order), { error: { code: 'image_missing', message: 'It is not here.' } });
});

test('every user who reaches the folder may connect, and the socket of an earlier keeper is replaced', async () => {
  const before = process.umask();
  server = await serve(keeper().asked, path());
  assert.equal(process.umask(), before);
  assert.equal(statSync(path()).mode & 0o666, 0o666);
  const earlier = server;
  server = await serve(keeper().asked, path());
  assert.deepEqual(await ask({ ask: 'about' }), { ok: { ...about, init: sha256('init') } });
  earlier.close();
  await once(earlier, 'close');
});
