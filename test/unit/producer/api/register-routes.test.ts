import assert from 'node:assert/strict';
import { test } from 'node:test';
import { methodsAt } from '@hotcell/producer/api/not-found.ts';
import { type Handlers, registerRoutes } from '@hotcell/producer/api/register-routes.ts';
import fastify from 'fastify';

test('a route that is not in the table of the contract cannot be registered', () => {
  const app = fastify();
  const handlers = new Proxy({}, { get: () => async () => undefined }) as Handlers;
  registerRoutes(app, handlers);
  assert.throws(() => app.get('/v1/secret', async () => 'unlisted'), /contract\/api\/routes\.ts/);
});

test('an address knows its methods, whatever stands in its variable parts', () => {
  assert.deepEqual(methodsAt('/v1/runs'), ['POST', 'GET']);
  assert.deepEqual(methodsAt('/v1/runs/x?wait=1'), ['GET']);
  assert.deepEqual(methodsAt('/v1/runs/x/outputs/a/b'), ['GET']);
  assert.deepEqual(methodsAt('/v1/uploads/a/b'), ['PUT']);
  assert.deepEqual(methodsAt('/v1/policies/try'), ['POST']);
  assert.deepEqual(methodsAt('/v1/policies/sealed'), ['GET']);
  assert.deepEqual(methodsAt('/v1/nothing'), []);
});
