import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type DiskSample, diskUse, withSample } from '@hotcell/contract/disk-growth.ts';
import { diskKindOf } from '@hotcell/record/disk-kind.ts';
import { diskTable } from '@hotcell/cli/disk-table.ts';

const sample = (at: string, bytes: number): DiskSample => ({
  at: `2026-11-${at}.000Z`,
  kinds: [{ kind: 'logs', objects: 2, bytes }],
});

describe('what takes room', () => {
  test('of each day the first sample stays, and the newest of all', () => {
    let samples: DiskSample[] = [];
    for (const at of ['01T00:00:00', '01T09:00:00', '02T01:00:00', '02T02:00:00', '02T03:00:00'])
      samples = withSample(samples, sample(at, 1));
    assert.deepEqual(
      samples.map(({ at }) => at.slice(8, 13)),
      ['01T00', '02T01', '02T03'],
    );
  });

  test('samples are bounded', () => {
    let samples: DiskSample[] = [];
    const from = Date.parse('2026-01-01T00:00:00Z');
    for (let day = 0; day < 100; day++)
      samples = withSample(samples, { at: new Date(from + day * 86_400_000).toISOString(), kinds: [] });
    assert.equal(samples.length, 32);
    assert.equal(samples.at(-1)?.at, '2026-04-10T00:00:00.000Z');
  });

  test('growth is told over the last seven days', () => {
    const samples = [sample('01T00:00:00', 0), sample('10T00:00:00', 1_000), sample('12T00:00:00', 3_000)];
    assert.deepEqual(diskUse(samples), {
      measuredAt: '2026-11-12T00:00:00.000Z',
      kinds: [{ kind: 'logs', objects: 2, bytes: 3_000, bytesPerDay: 1_000 }],
    });
  });

  test('growth is unknown from one sample, or within an hour', () => {
    const growth = (samples: DiskSample[]) => diskUse(samples).kinds[0]?.bytesPerDay;
    assert.equal(growth([sample('01T00:00:00', 5)]), null);
    assert.equal(growth([sample('01T00:00:00', 5), sample('01T00:59:59', 6)]), null);
    assert.equal(growth([sample('01T00:00:00', 5), sample('01T01:00:00', 6)]), 24);
    assert.deepEqual(diskUse([]), { measuredAt: null, kinds: [] });
  });

  for (const [key, kind] of [
    ['runs/t/2026/11/01/01a1/spec.json', 'specs'],
    ['runs/t/2026/11/01/01a1/result.json', 'results'],
    ['runs/t/2026/11/01/01a1/1-c/log.ndjson.zst', 'logs'],
    ['runs/t/2026/11/01/01a1/1-c/evidence.sigstore.json', 'evidence'],
    ['runs/t/2026/11/01/01a1/1-c/attempt.json', 'attempts'],
    ['cas/t/sha256/ab/abcd', 'contents'],
    ['snapshots/t/records/ab.json', 'snapshots'],
    ['postures/t/ab.json', 'postures'],
    ['names/t/spec.json', 'other'],
    ['stray', 'other'],
  ] as const)
    test(`${key} is one of the ${kind}`, () => assert.equal(diskKindOf(key), kind));
});

test('the table has kinds, caches and Valkey, and says when it was measured', () => {
  const now = Date.parse('2026-11-12T00:05:00Z');
  const disk = {
    measuredAt: '2026-11-12T00:00:00.000Z',
    kinds: [
      { kind: 'logs', objects: 2, bytes: 3_072, bytesPerDay: 1_024 },
      { kind: 'specs', objects: 2, bytes: 100, bytesPerDay: null },
      { kind: 'evidence', objects: 0, bytes: 0, bytesPerDay: null },
      { kind: 'work', objects: 1, bytes: 10, bytesPerDay: -5 },
    ],
    valkey: { memoryBytes: 2_048, appendOnlyFileBytes: null },
  };
  const worker = { name: 'one', cacheBytes: 1_048_576 };
  assert.equal(
    diskTable(disk, { workers: [worker] }, now),
    [
      'DISK          OBJECTS  SIZE       A DAY',
      'logs          2        3 KiB      +1 KiB',
      'specs         2        100 bytes  -',
      'work bucket   1        10 bytes   -5 bytes',
      'cache of one  -        1 MiB      -',
      'Valkey        -        2 KiB      -',
      '(measured 5 min ago)\n',
    ].join('\n'),
  );
});
