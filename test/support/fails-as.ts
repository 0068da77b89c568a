import assert from 'node:assert/strict';
import { HotcellError } from '@hotcell/contract/errors.ts';

/** What `assert.rejects` is to see: an error of ours, of this code, that says this. */
export const failsAs = (code: string, about: RegExp) => (error: unknown) => {
  assert.ok(error instanceof HotcellError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, about);
  return true;
};
