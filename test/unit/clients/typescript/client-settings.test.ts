import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hotcell } from '@hotcell/client/index.ts';

test('a client without a valid address or a key names the setting that is missing', () => {
  const invalid = (url: string) => () => new Hotcell({ url, apiKey: 'hc_key' });
  assert.throws(invalid(''), { code: 'invalid', message: /^No API address\. Set HOTCELL_URL/ });
  assert.throws(invalid('localhost'), { code: 'invalid', message: /^localhost is not an address\. Set HOTCELL_URL/ });
  const keyless = () => new Hotcell({ url: 'http://127.0.0.1:7411', apiKey: '' });
  assert.throws(keyless, { code: 'unauthenticated', message: /HOTCELL_API_KEY/ });
});
