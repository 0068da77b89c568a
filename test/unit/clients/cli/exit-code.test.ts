import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import type { Outcome } from '@hotcell/contract/outcomes.ts';
import { exitCodeOf, exitCodeOfFailure } from '@hotcell/cli/exit-code.ts';

test('a program that ended by itself gives its own exit code', () => {
  assert.equal(exitCodeOf({ outcome: 'succeeded', exitCode: 0 }), 0);
  assert.equal(exitCodeOf({ outcome: 'failed', exitCode: 7 }), 7);
  assert.equal(exitCodeOf({ outcome: 'failed', exitCode: 139 }), 139);
});

test('every other outcome has a code of its own, whatever the program’s was', () => {
  const codes: [Outcome, number][] = [
    ['timed_out', 124],
    ['lost', 125],
    ['rejected', 126],
    ['cancelled', 130],
    ['out_of_memory', 137],
    ['output_exceeded', 153],
  ];
  for (const [outcome, code] of codes)
    for (const exitCode of [null, 0, 1]) assert.equal(exitCodeOf({ outcome, exitCode }), code, outcome);
});

test('what failed before there was a run: mine to correct, not mine to ask, refused, or the platform’s', () => {
  const of = (code: HotcellError['code']) => exitCodeOfFailure(new HotcellError(code, 'x'));
  assert.equal(of('invalid'), 2);
  assert.equal(of('unauthenticated'), 4);
  assert.equal(of('forbidden'), 4);
  assert.equal(of('policy_refused'), 126);
  for (const code of ['api_unreachable', 'store_unavailable', 'queue_full', 'internal'] as const)
    assert.equal(of(code), 125, code);
  assert.equal(exitCodeOfFailure(new TypeError('a mistake of ours')), 125);
});
