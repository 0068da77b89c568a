import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scrub } from '@hotcell/executor-worker/inputs/scrub.ts';
import { openLog } from '@hotcell/outside/process/log.ts';

const log = openLog('test', 'silent');

test('trees are verified one after another until the end, and a failure ends nothing', async () => {
  const ends = new AbortController();
  const verified: boolean[] = [];
  const verifyOldest = async (signal?: AbortSignal) => {
    assert.equal(signal, ends.signal);
    verified.push(true);
    if (verified.length === 3) ends.abort();
    if (verified.length === 2) throw new Error('the disk is away');
    return true;
  };
  await scrub({ verifyOldest }, log, ends.signal, 0);
  assert.equal(verified.length, 3);
});

test('a scrub that ends while it rests verifies nothing', async () => {
  const ends = new AbortController();
  const scrubbed = scrub({ verifyOldest: async () => assert.fail('it verified') }, log, ends.signal, 60_000);
  ends.abort();
  await scrubbed;
});
