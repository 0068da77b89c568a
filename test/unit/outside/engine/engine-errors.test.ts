import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { explainEngineError, refusalStatusOf } from '@hotcell/outside/engine/engine-errors.ts';

/** A refusal as dockerode throws it. */
const refusal = (statusCode: number, message: string) =>
  Object.assign(new Error(`(HTTP code ${statusCode})`), { statusCode, json: { message } });

for (const [error, code, message] of [
  [refusal(404, 'No such image: x.'), 'image_missing', /could not start it: No such image: x\. Build or load/],
  [refusal(400, 'unknown or invalid runtime name: runsc'), 'runtime_missing', /doctor --fix/],
  [refusal(500, 'no space left'), 'cell_failed', /The engine could not start it: no space left\.$/],
  [new Error('connect ENOENT'), 'engine_unavailable', /Could not reach .* to start it: connect ENOENT\. Check/],
] as const)
  test(`${error.message} ${code} says what failed and what to do`, () => {
    const explained = explainEngineError(error, 'start it');
    assert.deepEqual([explained.code, explained.cause], [code, error]);
    assert.match(explained.message, message);
  });

test('an error of ours stays as it is, and only a refusal has a status', () => {
  const ours = new HotcellError('conflict', 'x');
  assert.equal(explainEngineError(ours, 'start it'), ours);
  assert.equal(refusalStatusOf(refusal(409, '')), 409);
  for (const other of [new Error('x'), null, 'text', { statusCode: '409' }])
    assert.equal(refusalStatusOf(other), undefined);
});
