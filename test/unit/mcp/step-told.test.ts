import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StepView } from '@hotcell/contract/api/sessions.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import type { Api } from '@hotcell/mcp/api.ts';
import { toldOfStep } from '@hotcell/mcp/step-told.ts';

const step = {
  run: newRunId(),
  index: 3,
  status: 'finished',
  outcome: 'succeeded',
  reason: 'The step succeeded.',
  exitCode: 0,
  stdout: 'done\n',
  stderr: '',
  outputs: [{ type: 'image/png', size: 10 }],
} as unknown as StepView;

/** An API whose downloads are all taken. */
const busy = {
  open: () => Promise.reject(new HotcellError('too_many', 'All downloads are taken.')),
} as unknown as Api;

test('a step whose picture can’t be had now is told with its number, and not as one to call again', async () => {
  const told = await toldOfStep(busy, step, new AbortController().signal);
  assert.equal(told.failed, false);
  assert.deepEqual([told.facts.step, told.facts.stdout, told.facts.leftOut], [3, 'done\n', true]);
});

test('a call that was taken back ends with that', async () => {
  const signal = AbortSignal.abort(new Error('taken back'));
  await assert.rejects(toldOfStep(busy, step, signal), { code: 'too_many' });
});
