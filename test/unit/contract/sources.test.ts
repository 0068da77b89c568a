import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSources, Source, sourceFor } from '@hotcell/contract/sources.ts';

const lake = {
  bucket: 'lake',
  endpoint: 'https://s3.example.com',
  accessKey: 'key',
  secretKey: 'secret',
  prefixes: ['open/', 'shared/2026/'],
};
const fileOf = (...sources: object[]) => JSON.stringify({ version: 1, sources });

test('a source needs an address, credentials and at least one prefix', () => {
  assert.equal(readSources(fileOf(lake))[0]?.region, 'us-east-1');
  for (const wrong of [
    { bucket: 'x' },
    { bucket: 'Lake' },
    { endpoint: 'ftp://s3.example.com' },
    { region: '' },
    { accessKey: '' },
    { secretKey: '' },
    { prefixes: [] },
    { sessionToken: 'x' },
  ])
    assert.throws(() => readSources(fileOf({ ...lake, ...wrong })), { code: 'invalid' }, JSON.stringify(wrong));
});

test('a bucket is named once', () => {
  assert.equal(readSources(fileOf(lake, { ...lake, bucket: 'other' })).length, 2);
  assert.throws(() => readSources(fileOf(lake, { ...lake, prefixes: ['more/'] })), /lake twice/);
});

test('a tenant reads only what lies under an open prefix of a source that is open to it', () => {
  const own = Source.parse({ ...lake, bucket: 'own', prefixes: [''], tenants: ['anna'] });
  const sources = [Source.parse(lake), own];
  const found = (tenant: string, bucket: string, key: string) => sourceFor(sources, tenant, bucket, key)?.bucket;
  assert.equal(found('bert', 'lake', 'open/x.csv'), 'lake');
  assert.equal(found('bert', 'lake', 'shared/2026/'), 'lake');
  assert.equal(found('anna', 'own', 'anything'), 'own');
  for (const [tenant, bucket, key] of [
    ['bert', 'lake', 'open'],
    ['bert', 'lake', 'closed/open/x.csv'],
    ['bert', 'lake', ''],
    ['bert', 'own', 'anything'],
    ['bert', 'elsewhere', 'open/x.csv'],
  ] as const)
    assert.equal(found(tenant, bucket, key), undefined, `${bucket}/${key}`);
});
