import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiKey, apiKeyIdOf } from '@hotcell/contract/apikey.ts';
import { newApiKey } from '@hotcell/record/api-keys.ts';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { ApiKeyRecord } from '@hotcell/record/schemas.ts';
import type { Role } from '@hotcell/contract/apikey.ts';
import { callerFrom, requireRole } from '@hotcell/producer/auth/caller.ts';

const recordOf = (tenant: string, role: Role) => newApiKey({ tenant, role, label: '' }).record;

test('a new key is recognised by its hash alone, and its record holds nothing that opens anything', () => {
  const { key, record } = newApiKey({ tenant: 'a', role: 'reader', label: 'x', expiresAt: new Date(0).toISOString() });
  assert.ok(ApiKey.safeParse(key).success);
  assert.deepEqual(ApiKeyRecord.parse(record), record);
  assert.equal(record.id, apiKeyIdOf(key));
  assert.equal(record.sha256, sha256(key));
  assert.ok(!JSON.stringify(record).includes(key.slice(3)));
  assert.notEqual(newApiKey({ tenant: 'a', role: 'reader', label: 'x' }).key, key);
});

test('everybody acts for the tenant of their key; only the operator for another', () => {
  assert.equal(callerFrom(recordOf('finance', 'submitter'), undefined).tenant, 'finance');
  assert.equal(callerFrom(recordOf('finance', 'submitter'), 'finance').tenant, 'finance');
  assert.equal(callerFrom(recordOf('default', 'admin'), 'finance').tenant, 'finance');
  for (const [tenant, role] of [
    ['finance', 'admin'],
    ['default', 'submitter'],
    ['default', 'reader'],
  ] as const)
    assert.throws(
      () => callerFrom(recordOf(tenant, role), 'other'),
      (error) => error instanceof HotcellError && error.code === 'forbidden',
    );
});

test('a tenant that is no name is refused, also to the operator', () => {
  for (const tenant of ['', '..', 'a/b', 'A', 'x'.repeat(64)])
    assert.throws(() => callerFrom(recordOf('default', 'admin'), tenant), HotcellError);
});

const mayAsk = (record: ApiKeyRecord, needed: 'reader' | 'submitter' | 'admin' | 'operator', tenant?: string) => {
  try {
    requireRole(callerFrom(record, tenant), needed);
    return true;
  } catch (error) {
    assert.ok(error instanceof HotcellError && error.code === 'forbidden', String(error));
    return false;
  }
};

test('an admin may do what a submitter may, and a submitter what a reader may, and not the other way', () => {
  const may = (role: Role) =>
    (['reader', 'submitter', 'admin'] as const).map((needed) => mayAsk(recordOf('a', role), needed));
  assert.deepEqual(may('reader'), [true, false, false]);
  assert.deepEqual(may('submitter'), [true, true, false]);
  assert.deepEqual(may('admin'), [true, true, true]);
});

test('only an admin of the default tenant is the operator, and stays the operator when acting for another tenant', () => {
  assert.ok(mayAsk(recordOf('default', 'admin'), 'operator'));
  assert.ok(mayAsk(recordOf('default', 'admin'), 'operator', 'finance'));
  assert.ok(!mayAsk(recordOf('default', 'submitter'), 'operator'));
  assert.ok(!mayAsk(recordOf('finance', 'admin'), 'operator'));
});
