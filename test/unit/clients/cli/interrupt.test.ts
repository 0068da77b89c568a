import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Interrupts } from '@hotcell/cli/interrupt.ts';

const interrupt = () => process.emit('SIGINT', 'SIGINT');

function watched() {
  const told: string[] = [];
  return { told, run: { hint: () => void told.push('hint'), cancel: () => void told.push('cancel') } };
}

test('before a run was accepted, an interrupt ends everything at once', () => {
  using interrupts = new Interrupts();
  interrupt();
  assert.equal(interrupts.signal.aborted, true);
  assert.equal(interrupts.exitCode, 130);
});

test('the first lets go of the run after a moment, in which nothing was cancelled', async () => {
  using interrupts = new Interrupts();
  const { told, run } = watched();
  interrupts.accepted(run);
  interrupt();
  assert.equal(interrupts.signal.aborted, false);
  await once(interrupts.signal, 'abort');
  assert.deepEqual(told, ['hint']);
  assert.equal(interrupts.exitCode, 75, 'not that of a cancelled run');
});

test('a second in that moment cancels and stays to see the end; a third does not wait', () => {
  using interrupts = new Interrupts();
  const { told, run } = watched();
  interrupts.accepted(run);
  interrupt();
  interrupt();
  assert.deepEqual(told, ['hint', 'cancel']);
  assert.equal(interrupts.signal.aborted, false);
  interrupt();
  assert.equal(interrupts.signal.aborted, true);
});

test('afterwards an interrupt is none of its business any more', () => {
  const before = process.listenerCount('SIGINT');
  {
    using _interrupts = new Interrupts();
    assert.equal(process.listenerCount('SIGINT'), before + 1);
  }
  assert.equal(process.listenerCount('SIGINT'), before);
});
