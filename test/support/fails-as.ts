import assert from 'node:assert/strict';
import { HotcellError } from '@hotcell/contract/errors.ts';

/** For `assert.rejects`: one of our errors with this code and message. */
export const failsAs = (code: string, about: RegExp) => (error: unknown) => {
  assert.ok(error instanceof HotcellError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, about);
  return true;
};
