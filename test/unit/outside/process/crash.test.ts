import assert from 'node:assert/strict';
import { test } from 'node:test';
import { armCrashPoint, armedCrashPoint, crashPoint } from '@hotcell/outside/process/crash.ts';

test('a process is armed with one named step, and passes all others', () => {
  assert.equal(armedCrashPoint(), undefined);
  armCrashPoint(undefined);
  armCrashPoint('');
  assert.equal(armedCrashPoint(), undefined);
  armCrashPoint('here');
  assert.equal(armedCrashPoint(), 'here:kill');
  armCrashPoint('here:stop');
  assert.equal(armedCrashPoint(), 'here:stop');
  crashPoint('elsewhere');
  assert.equal(armedCrashPoint(), 'here:stop');
});

test('it is killed or stopped there, and nothing else', () => {
  assert.throws(() => armCrashPoint('here:wait'), /must end with kill or stop/);
});
