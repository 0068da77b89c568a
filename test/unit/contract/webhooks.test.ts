import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseAddress, judgeAddress, judgeWebhookUrl, readNetworks } from '@hotcell/contract/address-guard.ts';
import { newWebhookKeys, webhookHeaders } from '@hotcell/contract/webhook-signature.ts';
import { nextTryAt, payloadOfEvent } from '@hotcell/contract/webhook.ts';
import { isWebhookSigned } from '../../support/webhook-check.ts';

const none = readNetworks('');
const refused = (address: string, own = none) => typeof judgeAddress(address, own) === 'object';

test('an address in a network of one’s own is refused, in whichever form it comes', () => {
  for (const address of [
    ...['127.0.0.1', '127.8.8.8', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '100.127.255.255', '192.0.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
    ...['::1', '::', 'fe80::1', 'fc00::1', 'fd12:3456::1', 'ff02::1', '2001:db8::1'],
    ...['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:7f00:1', '::ffff:a9fe:a9fe'],
    ...['64:ff9b::7f00:1', '64:ff9b::a00:1', '2002:7f00:1::', '2002:a00:1::', '2001::1', '::127.0.0.1'],
    ...['::7f00:1', '::a00:1', '4000::1', '5f00::1', '64:ff9b:1::a00:1'],
    ...['nonsense', '', '127.0.0.1/8', '::ffff:127.0.0.1%lo'],
  ])
    assert.ok(refused(address), address);
  for (const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])
    assert.equal(judgeAddress(address, none), 'public', address);
});

test('networks that the operator opens are reached, and only they', () => {
  const own = readNetworks('10.0.0.0/8, 127.0.0.1/32, fd00::/8');
  for (const address of ['10.1.2.3', '127.0.0.1', 'fd12::1', '::ffff:10.1.2.3'])
    assert.equal(judgeAddress(address, own), 'own', address);
  for (const address of ['127.0.0.2', '192.168.1.1', 'fc00::1', '::1']) assert.ok(refused(address, own), address);
  assert.throws(() => readNetworks('10.0.0.0'), /is no network/);
  assert.throws(() => readNetworks('10.0.0.0/99'), /is no network/);
});

test('an address of a webhook is judged before it is kept', () => {
  const why = (url: string, own = none) => {
    const judged = judgeWebhookUrl(url, own);
    return 'refused' in judged ? judged.refused : 'taken';
  };
  assert.equal(why('https://example.org/hook?x=1'), 'taken');
  assert.match(why('http://example.org/'), /must begin with https/);
  assert.match(why('ftp://example.org/'), /must begin with https/);
  assert.match(why('https://user:secret@example.org/'), /user or a password/);
  // Spellings of 127.0.0.1 that URLs allow.
  for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::ffff:127.0.0.1]', '[::1]', '127.1'])
    assert.match(why(`https://${host}/`), /may not reach/, host);
  assert.equal(why('http://127.0.0.1:8080/', readNetworks('127.0.0.0/8')), 'taken');
  assert.match(why('nonsense'), /is no address/);
});

test('an address that is longer in the form that is kept is judged in that form', () => {
  const url = (path: string) => judgeWebhookUrl(`https://example.org/${path}`, none);
  assert.ok('url' in url('a'.repeat(2_048 - 'https://example.org/'.length)));
  assert.ok('refused' in url('a'.repeat(2_049 - 'https://example.org/'.length)));
  const encoded = url('é'.repeat(1_000));
  assert.match('refused' in encoded ? encoded.refused : '', /has 6020 characters once it is encoded/);
  const host = judgeWebhookUrl(`https://${'a.'.repeat(500)}org/`, none);
  assert.match('refused' in host ? host.refused : '', /has a host name of 1003 characters/);
});

test('all addresses of a name must be allowed, and the connection goes to one that was judged', () => {
  const https = { protocol: 'https:' };
  assert.deepEqual(chooseAddress(https, ['8.8.8.8', '1.1.1.1'], none), { address: '8.8.8.8' });
  assert.match(JSON.stringify(chooseAddress(https, ['8.8.8.8', '10.0.0.1'], none)), /refused/);
  assert.match(JSON.stringify(chooseAddress(https, ['8.8.8.8', '::ffff:10.0.0.1'], none)), /refused/);
  assert.match(JSON.stringify(chooseAddress(https, [], none)), /no address/);
  const own = readNetworks('10.0.0.0/8');
  assert.deepEqual(chooseAddress({ protocol: 'http:' }, ['10.0.0.1'], own), { address: '10.0.0.1' });
  assert.match(JSON.stringify(chooseAddress({ protocol: 'http:' }, ['8.8.8.8'], own)), /needs https/);
});

test('what is sent is signed as Standard Webhooks says, and a changed byte shows', () => {
  const { privateKey, publicKey } = newWebhookKeys();
  const signed = { id: 'run-1', timestamp: 1_700_000_000, body: '{"type":"run.finished"}' };
  const headers = webhookHeaders(privateKey, signed);
  assert.deepEqual([headers['webhook-id'], headers['webhook-timestamp']], ['run-1', '1700000000']);
  const signature = headers['webhook-signature'] ?? '';
  assert.match(signature, /^v1a,[A-Za-z0-9+/]{86}==$/);
  assert.match(publicKey, /^whpk_[A-Za-z0-9+/]{43}=$/);
  assert.ok(isWebhookSigned(publicKey, signature, signed));
  for (const changed of [
    { ...signed, id: 'run-2' },
    { ...signed, timestamp: 1 },
    { ...signed, body: '{}' },
  ])
    assert.equal(isWebhookSigned(publicKey, signature, changed), false);
  assert.equal(isWebhookSigned(newWebhookKeys().publicKey, signature, signed), false);
});

test('a delivery is tried for three days, less and less often', () => {
  let [now, tries] = [0, 1];
  const gaps: number[] = [];
  for (let next = nextTryAt(tries, now); next !== undefined; next = nextTryAt(++tries, now)) {
    gaps.push((next - now) / 1000);
    now = next;
  }
  assert.deepEqual(
    gaps,
    gaps.toSorted((a, b) => a - b),
  );
  assert.ok(now >= 72 * 3_600_000 && now < 96 * 3_600_000, `${now / 3_600_000} h`);
});

test('a payload says what happened, and no more', () => {
  const at = '2026-11-19T10:00:00.000Z';
  const event = { version: 1, tenant: 't', id: 'run-1', type: 'run.finished', at, data: { run: 'r' } } as const;
  assert.deepEqual(JSON.parse(payloadOfEvent(event)), {
    ...{ type: 'run.finished', timestamp: at, data: { tenant: 't', run: 'r' } },
  });
});
