import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeBatchOptions } from '@hotcell/cli/evidence/judge-batch-options.ts';

test('verify refuses the options of runs for a batch, and names what to leave out', () => {
  const refusal = (option: string) => ({ code: 'invalid', message: new RegExp(`b1 is a batch. Leave ${option} out`) });
  assert.throws(() => judgeBatchOptions('b1', { explain: true }), refusal('--explain'));
  assert.throws(() => judgeBatchOptions('b1', { contents: false }), refusal('--no-contents'));
  judgeBatchOptions('b1', {});
});
