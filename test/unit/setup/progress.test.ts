import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { showProgressOn } from '@hotcell/setup/progress.ts';

function watched() {
  const stream = new PassThrough();
  let text = '';
  stream.setEncoding('utf8').on('data', (data: string) => (text += data));
  return { progress: showProgressOn(stream), text: () => text };
}

describe('progress', () => {
  test('gives a sign of life while a step is silent, with the last line of the tool', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { progress, text } = watched();
    const over = Promise.withResolvers<void>();
    const step = progress.step('building', async (say) => {
      say('\x1b[32mstep 3 of 7\x1b[0m');
      await over.promise;
    });
    t.mock.timers.tick(4_900);
    assert.match(text(), /… building, [0-9.]+ s: step 3 of 7\n/);
    over.resolve();
    await step;
    assert.match(text(), /✓ building \([0-9.]+ s\)\n$/);
  });

  test('is quiet once the step is over', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { progress, text } = watched();
    await progress.step('one', async () => await Promise.resolve());
    const said = text();
    t.mock.timers.tick(60_000);
    assert.equal(text(), said);
  });

  test('marks a step that failed and passes its error on', async () => {
    const { progress, text } = watched();
    await assert.rejects(
      progress.step('starting', async () => await Promise.reject(new Error('no'))),
      /no/,
    );
    assert.match(text(), /✗ starting/);
  });
});
