import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { flagsOf } from '@hotcell/setup/services/flagged-view.ts';
import { bucketPolicy } from '@hotcell/setup/store/rights.ts';

const keys = { producer: 'producer-1', worker: 'worker-1', notary: 'notary-1' };

function allowed(kind: 'record' | 'work', account: keyof typeof keys, action: string): string[] {
  const { Statement } = bucketPolicy('bucket', kind, keys);
  return Statement.filter(
    ({ Principal, Action }) => Principal.AWS.includes(keys[account]) && Action.includes(action),
  ).flatMap(({ Resource }) => Resource);
}

describe('the rights in the buckets', () => {
  for (const account of ['producer', 'worker', 'notary'] as const)
    test(`let the ${account} delete nothing in the record, and no version anywhere`, () => {
      assert.deepEqual(allowed('record', account, 's3:DeleteObject'), []);
      for (const kind of ['record', 'work'] as const)
        for (const action of ['s3:DeleteObjectVersion', 's3:BypassGovernanceRetention', 's3:PutBucketPolicy', 's3:*'])
          assert.deepEqual(allowed(kind, account, action), []);
    });

  test('keep API keys from workers and the notary', () => {
    for (const account of ['worker', 'notary'] as const)
      assert.deepEqual(
        allowed('record', account, 's3:GetObject').filter(
          (arn) => /\/(apikeys\/)?\*$/.test(arn) && /apikeys|bucket\/\*/.test(arn),
        ),
        [],
      );
  });

  test('give the ledger to the notary alone', () => {
    const mayWrite = (account: keyof typeof keys) =>
      allowed('work', account, 's3:PutObject').some((arn) => arn.includes('/ledger') || arn.endsWith('bucket/*'));
    assert.deepEqual((['producer', 'worker', 'notary'] as const).filter(mayWrite), ['notary']);
  });
});

test('the flags of a mount are those of the last mount at its path, even if it has spaces', () => {
  const mountinfo = [
    '31 1 254:0 / / rw,relatime - ext4 /dev/vda rw',
    '90 31 254:0 /srv/a\\040b /srv/a\\040b rw,relatime - ext4 /dev/vda rw',
    '91 90 254:0 /srv/a\\040b /srv/a\\040b rw,nosuid,nodev,noexec,relatime - ext4 /dev/vda rw',
  ].join('\n');
  assert.deepEqual(flagsOf(mountinfo, '/srv/a b'), ['rw', 'nosuid', 'nodev', 'noexec', 'relatime']);
  assert.equal(flagsOf(mountinfo, '/srv/c'), undefined);
});
