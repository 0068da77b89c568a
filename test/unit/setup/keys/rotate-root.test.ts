import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { after, beforeEach, test } from 'node:test';
import { join } from 'node:path';
import { readKeyList, signKeyList } from '@hotcell/contract/evidence/key-list.ts';
import { SigningKey } from '@hotcell/contract/evidence/signing-key.ts';
import { emptyList } from '@hotcell/setup/keys/key-list-changes.ts';
import { rotateRoot } from '@hotcell/setup/keys/rotate-root.ts';
import { ownRoot, trustedRoots } from '@hotcell/setup/keys/trusted-roots.ts';
import { placesIn } from '@hotcell/setup/settings/installation.ts';

const home = mkdtempSync(join(tmpdir(), 'hotcell-root-'));
after(() => rmSync(home, { recursive: true, force: true }));
const { trust, rootKey, trustedRoot, retiredRoots } = placesIn(home);
const old = new SigningKey(SigningKey.generate());
const oldPem = SigningKey.generate();

beforeEach(() => {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(trust, { recursive: true });
  writeFileSync(rootKey, oldPem);
  writeFileSync(trustedRoot, new SigningKey(oldPem).public.pem);
  writeFileSync(join(trust, 'another.pem'), old.public.pem);
});

const list = { ...emptyList('i'), number: 1 };

test('another root takes the place of the old one, after it has signed the list; other trusted roots stay', async () => {
  const said = await rotateRoot({ home }, async (root) => {
    assert.equal((await trustedRoots({ home })).length, 3, 'both count while the list changes hands');
    readKeyList(signKeyList(root, list), await trustedRoots({ home }));
    return list;
  });
  assert.equal((await ownRoot({ home }))?.fingerprint, said.after);
  assert.equal(said.before, new SigningKey(oldPem).fingerprint);
  const trusted = (await trustedRoots({ home })).map(({ fingerprint }) => fingerprint);
  assert.deepEqual(trusted.toSorted(), [old.fingerprint, said.after].toSorted());
  const kept = readdirSync(retiredRoots).map((name) => readFileSync(join(retiredRoots, name), 'utf8'));
  assert.deepEqual(kept, [new SigningKey(oldPem).public.pem], 'exports of before are verified by it');
  assert.equal(statSync(rootKey).mode & 0o777, 0o600);
  assert.deepEqual(
    readdirSync(join(home, 'keys')).filter((name) => name.includes('next')),
    [],
  );
});

test('a list that could not be signed leaves the old root in its place, and the next try takes the same new one', async () => {
  await assert.rejects(
    rotateRoot({ home }, () => Promise.reject(new Error('store away'))),
    /store away/,
  );
  assert.equal((await ownRoot({ home }))?.fingerprint, new SigningKey(oldPem).fingerprint);
  const next = new SigningKey(readFileSync(`${rootKey}.next`, 'utf8')).fingerprint;
  assert.equal((await rotateRoot({ home }, async () => list)).after, next);
  assert.ok(!existsSync(`${rootKey}.next`));
});

test('a root that is kept elsewhere is not replaced here', async () => {
  rmSync(rootKey);
  await assert.rejects(
    rotateRoot({ home }, async () => list),
    /not on this machine/,
  );
});
