import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { HotcellError } from '@hotcell/contract/errors.ts';
import { manifestOf, readManifest, type SnapshotEntry } from '@hotcell/contract/snapshot.ts';
import { diffOf } from '@hotcell/contract/snapshot-diff.ts';
import { casLocation, locationsOf, readLocations } from '@hotcell/record/snapshot-locations.ts';
import { readSources, sourceFor } from '@hotcell/contract/sources.ts';

const entry = (path: string, text: string): SnapshotEntry => ({ path, size: text.length, sha256: sha256(text) });
const refusedAs = (code: string, about?: RegExp) => (error: unknown) => {
  assert.ok(error instanceof HotcellError);
  assert.equal(error.code, code);
  if (about) assert.match(error.message, about);
  return true;
};

test('the same names and bytes have the same id, in whatever order they come', () => {
  const files = [entry('b', '2'), entry('a/z', '1'), entry('ä', '3'), entry('Z', '4')];
  assert.equal(manifestOf(files).id, manifestOf(files.toReversed()).id);
});

test('a manifest is sorted canonical lines, and its id is what sha256sum says of them', () => {
  const { id, text } = manifestOf([entry('b', 'x'), entry('a', 'yy')]);
  assert.equal(
    text,
    `{"path":"a","sha256":"${sha256('yy')}","size":2}\n{"path":"b","sha256":"${sha256('x')}","size":1}\n`,
  );
  assert.equal(id, sha256(text));
});

test('a manifest that was changed in the store is refused', () => {
  const { id, text } = manifestOf([entry('a', 'x')]);
  assert.deepEqual(readManifest(text, id), [entry('a', 'x')]);
  assert.throws(() => readManifest(text.replace('"a"', '"b"'), id), refusedAs('input_damaged', /digest/));
});

test('a manifest whose id is right is refused all the same when its lines are not', () => {
  const good = manifestOf([entry('a', 'x'), entry('b', 'y')]).text;
  const [a = '', b = ''] = good.split('\n');
  for (const text of [`${b}\n${a}\n`, `${a}\n${a}\n`, ` ${a}\n`, a, `${a}\n\n`, '{}\n', 'no json\n'])
    assert.throws(() => readManifest(text, sha256(text)), refusedAs('input_damaged'), JSON.stringify(text));
});

test('a manifest whose id is right is refused when a name leads out of the tree', () => {
  const { id, text } = manifestOf([entry('../../etc/cron.d/x', 'x')]);
  assert.throws(() => readManifest(text, id), refusedAs('snapshot_refused'));
});

test('a map of locations that is not of this manifest is refused', () => {
  const files = [entry('a', 'x'), entry('b', 'y')];
  const located = files.map((file) => ({ ...file, location: casLocation('record', 'acme', file.sha256) }));
  const { digest, text } = locationsOf(located);
  assert.deepEqual(readLocations(text, digest, files), located);
  assert.throws(() => readLocations(text, digest, files.slice(1)), refusedAs('input_damaged'));
  assert.throws(() => readLocations(text.replace('acme', 'evil'), digest, files), refusedAs('input_damaged'));
});

test('a diff names what was added, removed and changed', () => {
  const diff = diffOf(
    [entry('a', '1'), entry('b', '2'), entry('c', '3')],
    [entry('b', '2'), entry('c', '4'), entry('d', '5')],
  );
  assert.deepEqual(diff.added, [entry('d', '5')]);
  assert.deepEqual(diff.removed, [entry('a', '1')]);
  assert.deepEqual(diff.changed, [{ path: 'c', before: entry('c', '3'), after: entry('c', '4') }]);
  assert.equal(diff.same, 1);
});

test('only what the operator opened to a tenant can be read', () => {
  const lake = { bucket: 'lake', endpoint: 'http://127.0.0.1:1', accessKey: 'k', secretKey: 's' };
  const sources = readSources(
    JSON.stringify({ version: 1, sources: [{ ...lake, prefixes: ['sales/'], tenants: ['acme'] }] }),
  );
  assert.equal(sourceFor(sources, 'acme', 'lake', 'sales/2026/')?.bucket, 'lake');
  for (const [tenant, bucket, key] of [
    ['other', 'lake', 'sales/2026/'],
    ['acme', 'lake', 'salaries/'],
    ['acme', 'lake', ''],
    ['acme', 'pond', 'sales/'],
  ] as const)
    assert.equal(sourceFor(sources, tenant, bucket, key), undefined);
});

test('a file of sources that is not right is refused with the field', () => {
  assert.throws(() => readSources('{"version":1,"sources":[{"bucket":"lake"}]}'), refusedAs('invalid', /sources\[0\]/));
  assert.throws(() => readSources('{'), refusedAs('invalid'));
});
