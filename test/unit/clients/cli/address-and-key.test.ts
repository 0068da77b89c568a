import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { addressAndKey } from '@hotcell/cli/address-and-key.ts';

const own = 'http://127.0.0.1:7540';
const elsewhere = 'http://elsewhere.example:7411';

const folder = await mkdtemp(join(tmpdir(), 'hotcell-homes-'));
after(() => rm(folder, { recursive: true }));

async function installation(name: string, url = own): Promise<string> {
  const home = join(folder, name);
  await mkdir(home);
  const config = { HOTCELL_INSTALLATION: 'abc123', HOTCELL_PORT_BASE: 7540, HOTCELL_URL: url };
  const lines = Object.entries(config).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(home, 'config.env'), lines.join(''), { mode: 0o600 });
  await writeFile(join(home, 'credentials'), 'hc_kept\n', { mode: 0o600 });
  return home;
}

describe('address and key come from one place', () => {
  test('both from the files of the installation', async () => {
    const env = { HOTCELL_HOME: await installation('files') };
    assert.deepEqual(await addressAndKey(undefined, env), { url: own, apiKey: 'hc_kept' });
    assert.deepEqual(await addressAndKey(`${own}/`, env), { url: own, apiKey: 'hc_kept' });
  });

  test('both from the caller', async () => {
    const env = { HOTCELL_HOME: await installation('caller'), HOTCELL_API_KEY: 'hc_mine' };
    const mine = { url: elsewhere, apiKey: 'hc_mine' };
    assert.deepEqual(await addressAndKey(elsewhere, env), mine);
    assert.deepEqual(await addressAndKey(undefined, { ...env, HOTCELL_URL: elsewhere }), mine);
    const byPort = await addressAndKey(undefined, { ...env, HOTCELL_PORT_BASE: '7600' });
    assert.deepEqual(byPort, { url: 'http://127.0.0.1:7600', apiKey: 'hc_mine' });
  });

  test('without an installation the caller’s key goes to the usual port', async () => {
    const env = { HOTCELL_HOME: join(folder, 'nothing'), HOTCELL_API_KEY: 'hc_mine' };
    const found = await addressAndKey(undefined, env);
    assert.deepEqual(found, { url: 'http://127.0.0.1:7411', apiKey: 'hc_mine' });
  });

  test('a key of the caller’s does not go to an address that a file names', async () => {
    const env = { HOTCELL_HOME: await installation('planted', elsewhere), HOTCELL_API_KEY: 'hc_mine' };
    const message = /^HOTCELL_API_KEY is set without HOTCELL_URL\. Set HOTCELL_URL too \(.*elsewhere/;
    await assert.rejects(addressAndKey(undefined, env), { code: 'invalid', message });
  });

  test('nor to one in a file that says nothing else', async () => {
    const home = join(folder, 'bare');
    await mkdir(home);
    await writeFile(join(home, 'config.env'), `HOTCELL_URL=${elsewhere}\n`, { mode: 0o600 });
    const env = { HOTCELL_HOME: home, HOTCELL_API_KEY: 'hc_mine' };
    await assert.rejects(addressAndKey(undefined, env), {
      code: 'invalid',
      message: /^HOTCELL_API_KEY is set without/,
    });
  });

  test('the key of the files does not go to an address of the caller’s', async () => {
    const env = { HOTCELL_HOME: await installation('kept') };
    const refused = { code: 'unauthenticated', message: /^No API key for http:\/\/elsewhere.*Set HOTCELL_API_KEY/ };
    await assert.rejects(addressAndKey(elsewhere, env), refused);
    await assert.rejects(addressAndKey(undefined, { ...env, HOTCELL_URL: elsewhere }), refused);
  });
});
