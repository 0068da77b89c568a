import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { openLog } from '@hotcell/outside/process/log.ts';
import { once, patiently } from '@hotcell/record/patience.ts';

const log = openLog('test', 'silent');
const away = () => new HotcellError('store_unavailable', 'away');

test('a step that fails because the store is away is tried until it succeeds', async () => {
  let tries = 0;
  const step = async () => {
    if (++tries < 3) throw away();
    return tries;
  };
  assert.equal(await patiently(log, 'put it', step), 3);
});

test('any other failure is thrown at once, and so is one that lasts too long', async (t) => {
  let tries = 0;
  const step = (error: Error) => async () => {
    tries++;
    throw error;
  };
  await assert.rejects(patiently(log, 'put it', step(new HotcellError('forbidden', 'no'))), { code: 'forbidden' });
  await assert.rejects(patiently(log, 'put it', step(new Error('broken'))), /broken/);
  assert.equal(tries, 2);
  let now = 0;
  t.mock.method(performance, 'now', () => (now += 60_001));
  await assert.rejects(patiently(log, 'put it', step(away())), { code: 'store_unavailable' });
  assert.equal(tries, 4, 'within two minutes it is tried again, and then no more');
});

test('for a caller who waits, a step is tried once', async () => {
  let tries = 0;
  const step = async () => {
    tries++;
    throw away();
  };
  await assert.rejects(once(log, 'put it', step), { code: 'store_unavailable' });
  assert.equal(tries, 1);
});
