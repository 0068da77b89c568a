import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { answerProblems, refuseUnreadable } from '@hotcell/producer/api/answer-problems.ts';
import fastify from 'fastify';

const log = openLog('test', 'silent');

/** A server whose route fails like this. */
function failing(error: unknown) {
  const app = fastify({ clientErrorHandler: refuseUnreadable(log), genReqId: () => 'id-1' });
  answerProblems(app, { log });
  app.get('/', () => {
    throw error;
  });
  app.removeAllContentTypeParsers();
  // The body is refused before anything of it is read.
  app.addContentTypeParser('*', async () => {
    throw error;
  });
  app.post('/', async () => 'taken');
  return app;
}

test('a failure is answered as a problem, with what its status asks for beside it', async () => {
  const answer = async (error: unknown) => {
    const { statusCode, headers, body } = await failing(error).inject('/');
    return { statusCode, headers, problem: JSON.parse(body) as Record<string, unknown> };
  };
  const unknown = await answer(new HotcellError('unauthenticated', 'who'));
  assert.deepEqual([unknown.statusCode, unknown.headers['www-authenticate']], [401, 'Bearer']);
  assert.deepEqual([unknown.problem['requestId'], unknown.problem['status']], ['id-1', 401]);
  assert.match(String(unknown.headers['content-type']), /^application\/problem\+json/);

  const wait = await answer(new HotcellError('too_many', 'later', { extra: { retryAfterSeconds: 1.2 } }));
  assert.deepEqual([wait.statusCode, wait.headers['retry-after']], [429, '2']);
  assert.equal(wait.headers['www-authenticate'], undefined);

  const method = await answer(new HotcellError('invalid', 'no', { extra: { allow: ['GET', 'POST'] } }));
  assert.equal(method.headers['allow'], 'GET, POST');
  assert.equal(method.headers['retry-after'], undefined);

  const broken = await answer(new Error('a secret of the inside'));
  assert.equal(broken.statusCode, 500);
  assert.doesNotMatch(JSON.stringify(broken.problem), /secret/);
});

for (const code of ['too_large', 'overloaded'] as const)
  test(`a body that is refused as ${code} is read to its end, so that its sender sees why`, async () => {
    await using app = failing(new HotcellError(code, 'no'));
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const body = Buffer.alloc(8 * 1024 * 1024);
    const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    assert.equal(answer.status, new HotcellError(code, '').status);
    assert.equal(((await answer.json()) as { code: string }).code, code);
  });

test('what is not HTTP is refused in the same form, and its connection closed', async () => {
  await using app = failing(new Error('never reached'));
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('nonsense\r\n\r\n');
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  assert.match(head, /^HTTP\/1.1 400 Bad Request\r\n/);
  assert.match(head, /\r\nconnection: close$/);
  assert.equal(Number(/content-length: (\d+)/.exec(head)?.[1]), Buffer.byteLength(body));
  const problem = JSON.parse(body) as Record<string, unknown>;
  assert.deepEqual([problem['status'], problem['code']], [400, 'invalid']);
  assert.match(String(problem['requestId']), /^[0-9a-f-]{36}$/);
});
