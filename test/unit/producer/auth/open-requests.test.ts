import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { openLog } from '@hotcell/outside/process/log.ts';
import { OpenRequests } from '@hotcell/producer/auth/open-requests.ts';

const log = openLog('test', 'silent');

/** A request whose connection can be cut, and its answer. */
function request() {
  const socket = {
    destroyed: false,
    destroy() {
      socket.destroyed = true;
    },
  };
  return { socket, raw: { socket } as unknown as IncomingMessage, answer: new EventEmitter() };
}

test('the requests of a key that is good no more are cut, and those of another key go on', async () => {
  using open = new OpenRequests({ isStillGood: async (key) => key !== 'revoked' }, log);
  const [one, two, other] = [request(), request(), request()];
  open.add('revoked', one.raw, one.answer);
  open.add('revoked', two.raw, two.answer);
  open.add('good', other.raw, other.answer);
  await open.look('revoked');
  await open.look('good');
  assert.deepEqual(
    [one, two, other].map(({ socket }) => socket.destroyed),
    [true, true, false],
  );
});

test('a request that was answered is not cut, while another with the same key is', async () => {
  using open = new OpenRequests({ isStillGood: async () => false }, log);
  const [ended, lasts] = [request(), request()];
  open.add('k', ended.raw, ended.answer);
  open.add('k', lasts.raw, lasts.answer);
  ended.answer.emit('close');
  await open.look('k');
  assert.deepEqual(
    [ended, lasts].map(({ socket }) => socket.destroyed),
    [false, true],
  );
  lasts.answer.emit('close');
  const later = request();
  open.add('k', later.raw, later.answer);
  await open.look('k');
  assert.equal(later.socket.destroyed, true);
});

test('while the keys cannot be read, no request is cut', async () => {
  using open = new OpenRequests({ isStillGood: async () => Promise.reject(new Error('away')) }, log);
  const one = request();
  open.add('k', one.raw, one.answer);
  await open.look('k');
  assert.equal(one.socket.destroyed, false);
});

test('every key with open requests is looked at every second', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const asked: string[] = [];
  const isStillGood = async (key: string) => {
    asked.push(key);
    return true;
  };
  const open = new OpenRequests({ isStillGood }, log);
  for (const key of ['a', 'b']) open.add(key, request().raw, new EventEmitter());
  t.mock.timers.tick(1_000);
  assert.deepEqual(asked, ['a', 'b']);
  open[Symbol.dispose]();
  t.mock.timers.tick(5_000);
  assert.equal(asked.length, 2);
});
