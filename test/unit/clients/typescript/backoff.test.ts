import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff } from '@hotcell/client/backoff.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';

const away = new HotcellError('store_unavailable', 'away');

test('what ends by itself is worth another try, and nothing else is', async () => {
  const backoff = new Backoff();
  await backoff.failed(away, undefined);
  await backoff.failed(new HotcellError('too_many', 'too many'), undefined);
  for (const error of [new HotcellError('invalid', 'no'), new HotcellError('internal', 'no'), new Error('broken')])
    await assert.rejects(backoff.failed(error, undefined), (thrown) => thrown === error);
});

test('failures in a row are borne for two minutes, and a success begins them anew', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const backoff = new Backoff();
  await backoff.failed(away, undefined);
  now = 120_000;
  await backoff.failed(away, undefined);
  now = 120_001;
  await assert.rejects(backoff.failed(away, undefined), { code: 'store_unavailable' });
  backoff.succeeded();
  await backoff.failed(away, undefined);
});

test('a caller who leaves does not wait for the pause to end', async () => {
  await assert.rejects(new Backoff().failed(away, AbortSignal.abort()), { name: 'AbortError' });
});
