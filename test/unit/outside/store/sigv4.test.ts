import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptySha256, encodePath, encodeQuery, Signer } from '@hotcell/outside/store/sigv4.ts';

/** The account, requests and signatures that the S3 documentation works out step by step. */
const account = {
  accessKey: 'AKIAIOSFODNN7EXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  host: 'examplebucket.s3.amazonaws.com',
};
const day = new Date('2013-05-24T00:00:00.123Z');
const signatureOf = (headers: Record<string, string>) =>
  /Signature=([0-9a-f]{64})$/.exec(headers['authorization'] ?? '')?.[1];

test('requests are signed as the documentation of S3 signs them', () => {
  const signer = new Signer(account);
  const headers = signer.sign('GET', '/test.txt', '', emptySha256, { range: 'bytes=0-9' }, day);
  assert.equal(
    headers['authorization'],
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  );
  assert.equal(headers['x-amz-date'], '20130524T000000Z');
  const listed = signer.sign('GET', '/', encodeQuery({ prefix: 'J', 'max-keys': '2' }), emptySha256, {}, day);
  assert.equal(signatureOf(listed), '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7');
});

test('each day has a key of its own', () => {
  const signer = new Signer(account);
  const sign = (at: Date, by = signer) => signatureOf(by.sign('GET', '/test.txt', '', emptySha256, {}, at));
  const next = new Date(day.getTime() + 86_400_000);
  const [first, second] = [sign(day), sign(next)];
  assert.equal(second, sign(next, new Signer(account)));
  assert.equal(first, sign(day));
});

test('paths and queries are encoded as a store compares them', () => {
  assert.equal(encodePath('b', "a b/c+d/é!'()*"), '/b/a%20b/c%2Bd/%C3%A9%21%27%28%29%2A');
  assert.equal(encodeQuery({ b: 'x/y', a: '1 2', 'c-d': '' }), 'a=1%202&b=x%2Fy&c-d=');
});

const minutes = 60_000;

test('a clock that is far from the store’s follows it, once', () => {
  const signer = new Signer(account);
  const ahead = () => new Date(Date.now() + 20 * minutes);
  assert.equal(signer.follow(ahead(), signer.aheadMs), true);
  assert.ok(Math.abs(signer.aheadMs - 20 * minutes) < minutes);
  // It follows already: the clock does not explain why the next request was refused.
  const before = signer.aheadMs;
  assert.equal(signer.follow(ahead(), before), false);
  assert.equal(signer.aheadMs, before);
  // Another request was signed before the clock was set, and refused after it.
  assert.equal(signer.follow(ahead(), 0), true);
});

test('a clock that is behind follows as well, and one that is near enough stays', () => {
  const signer = new Signer(account);
  assert.equal(signer.follow(new Date(Date.now() + 3 * minutes), 0), false);
  assert.equal(signer.aheadMs, 0);
  assert.equal(signer.follow(new Date(Date.now() - 20 * minutes), 0), true);
  assert.ok(signer.aheadMs < -19 * minutes);
  // From one side to the other: the distance counts, not the sum.
  assert.equal(signer.follow(new Date(Date.now() + 20 * minutes), signer.aheadMs), true);
  assert.ok(signer.aheadMs > 19 * minutes);
  assert.equal(new Signer(account).follow(undefined, 0), false);
});

test('the time that a request is signed with is the store’s', () => {
  const signer = new Signer(account);
  signer.follow(new Date(Date.now() + 600 * minutes), 0);
  const at = signer.sign('GET', '/', '', emptySha256)['x-amz-date'] ?? '';
  const [, y, mo, d, h, mi, s] = /^(....)(..)(..)T(..)(..)(..)Z$/.exec(at) ?? [];
  const signed = Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`);
  assert.ok(Math.abs(signed - Date.now() - 600 * minutes) < minutes, at);
});
