import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { canonical } from '@hotcell/contract/digest.ts';
import { type KeyRequest, readKeyRequest, signKeyRequest } from '@hotcell/contract/evidence/key-list.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { openSigner, requestPath } from '@hotcell/record/signer.ts';
import { emptyList, withKeys } from '@hotcell/setup/keys/key-list-changes.ts';
import { notBefore, ownRequests } from '@hotcell/setup/keys/list-own-keys.ts';
import { placesIn } from '@hotcell/setup/settings/installation.ts';

const home = await mkdtemp(join(tmpdir(), 'hotcell-own-keys-'));
after(() => rm(home, { recursive: true }));
const { producerState, workerState } = placesIn(home);
const producer = await openSigner(producerState, 'producer', 'producer');
const worker = await openSigner(workerState, 'worker', 'here');
const key = new SigningKey(SigningKey.generate());

function signed(change: Partial<KeyRequest>) {
  const madeAt = '2020-01-01T00:00:00.000Z';
  const own = { version: 1, role: 'worker', name: 'here', publicKey: key.public.pem, madeAt } as const;
  return signKeyRequest(key, { ...own, ...change });
}

test('the keys of this machine’s producer and worker are listed', async () => {
  const found = await ownRequests(home, 'here');
  assert.deepEqual(
    found.map(({ fingerprint }) => fingerprint),
    [producer.key.fingerprint, worker.key.fingerprint],
  );
  assert.deepEqual(await ownRequests(join(home, 'none'), 'here'), []);
});

test('a worker’s folder asks for no key of another host’s worker or of another role', async () => {
  const own = requestPath(workerState, 'worker', 'here');
  const foreign = [signed({ name: 'elsewhere' }), signed({ role: 'producer', name: 'producer' })];
  for (const [at, request] of foreign.entries()) {
    const beside = join(dirname(own), `x${at}.request.json`);
    await writeFile(beside, canonical(request));
    const found = await ownRequests(home, 'here');
    assert.deepEqual(
      found.map(({ fingerprint }) => fingerprint),
      [producer.key.fingerprint, worker.key.fingerprint],
    );
    await rm(beside);
  }
  const before = canonical(worker.request);
  for (const request of foreign) {
    await writeFile(own, canonical(request));
    await assert.rejects(ownRequests(home, 'here'), /instead of worker here, so no key is listed/);
  }
  await writeFile(own, before);
});

test('a key that is new on a later list counts from the time of the list before it at the earliest', () => {
  const first = new Date('2026-05-01T00:00:00.000Z');
  const listed = withKeys(emptyList('i'), [], first);
  const froms = (madeAt: string) => {
    const asked = notBefore(listed, [readKeyRequest(signed({ madeAt }))]);
    return withKeys(listed, asked, new Date('2026-06-01T00:00:00.000Z')).keys.map(({ from }) => from);
  };
  assert.deepEqual(froms('2020-01-01T00:00:00.000Z'), [first.toISOString()]);
  // A worker signs from its start on, which is a moment before it is listed.
  assert.deepEqual(froms('2026-05-31T23:59:50.000Z'), ['2026-05-31T23:59:50.000Z']);
});

test('before the first list, a key counts from when it was made on', () => {
  const [request] = notBefore(undefined, [readKeyRequest(signed({}))]);
  assert.equal(request?.madeAt, '2020-01-01T00:00:00.000Z');
});
