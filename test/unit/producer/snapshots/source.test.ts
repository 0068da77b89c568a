import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRunId } from '@hotcell/contract/names.ts';
import { tally } from '@hotcell/producer/freeze/tally.ts';
import { sourceForm } from '@hotcell/producer/snapshots/source.ts';

const id = `sha256:${'0a'.repeat(32)}`;
const run = newRunId();

for (const [source, form] of [
  [id, { kind: 'id', id }],
  ['daily-sales', { kind: 'name', name: 'daily-sales' }],
  ['daily-sales@12', { kind: 'version', name: 'daily-sales', number: 12 }],
  ['daily-sales@{2026-11-01}', { kind: 'version', name: 'daily-sales', at: '2026-11-01T23:59:59.999Z' }],
  ['sales@{2026-11-01T08:00:00Z}', { kind: 'version', name: 'sales', at: '2026-11-01T08:00:00.000Z' }],
  [`${run}:outputs`, { kind: 'outputs', run }],
  ['s3://lake/sales/2026/', { kind: 's3', bucket: 'lake', prefix: 'sales/2026/' }],
  ['s3://lake', { kind: 's3', bucket: 'lake', prefix: '' }],
] as const)
  test(`${source} is recognised as ${form.kind}`, () => assert.deepEqual(sourceForm(source), form));

for (const [source, why] of [
  ['sha256:0a', /not a snapshot id/],
  ['some-run:outputs', /does not name a run/],
  ['sales@yesterday', /names no version\. Write NAME@3, NAME@\{2026-11-01\}/],
  ['sales@{2026-99-01}', /names no version/],
  ['./folder', /can't read local paths/],
  ['', /can't read local paths/],
] as const)
  test(`"${source}" is refused with what it should be`, () =>
    assert.throws(() => sourceForm(source), { code: 'invalid', message: why }));

test('a listing may have as many files and bytes as one snapshot holds, and not one more', () => {
  const limits = { files: 2, bytes: 10 };
  const whole = tally('it', limits);
  whole.add(4);
  whole.add(6);
  assert.throws(() => whole.add(0), { code: 'too_large', message: /more than 2 files/ });
  const big = tally('it', limits);
  assert.throws(() => big.add(11), { code: 'too_large', message: /more than 10 bytes/ });
  assert.throws(() => tally('it', limits).refuseNothing(), { code: 'snapshot_refused' });
  const one = tally('it', limits);
  one.add(0);
  one.refuseNothing();
});
