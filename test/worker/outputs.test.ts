import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sha256 } from '@hotcell/contract/digest.ts';
import { recordKeys } from '@hotcell/record/layout.ts';
import { newRunId } from '@hotcell/contract/names.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { OutputCollector } from '@hotcell/executor-worker/outputs/output-collector.ts';
import { OutputLost } from '@hotcell/executor-worker/cell/sealed-cell.ts';
import { youngEnough } from '@hotcell/record/keep.ts';
import { age } from '../support/aged.ts';
import { type Bed, openBed } from '../support/bed.ts';
import { openOutputRoom } from '../support/output-room.ts';

let bed: Bed;
let store: Buckets;
before(async () => {
  bed = await openBed();
  store = bed.store('worker');
});
after(() => bed[Symbol.asyncDispose]());

const wide = { outputBytes: 64 * 1024 * 1024, outputFiles: 100 };
async function* inChunks(bytes: Buffer, size = 65_536): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(
  files: readonly (readonly [Buffer | string, Buffer])[],
  limits = wide,
  tenant: string = bed.tenant(),
) {
  const collector = new OutputCollector({ store, tenant, run: newRunId(), attempt: 1, room: openOutputRoom() }, limits);
  for (const [path, bytes] of files) await collector.take(Buffer.from(path), bytes.length, inChunks(bytes));
  return { tenant, collector, collected: await collector.finish() };
}

describe('a run’s outputs', () => {
  test('are stored under the digest of their bytes, whether small, large or empty', async () => {
    const files = [
      ['empty', Buffer.alloc(0)],
      ['deep/er/small.bin', randomBytes(1000)],
      ['large.bin', randomBytes(11 * 1024 * 1024 + 7)],
    ] as const;
    const { tenant, collected } = await collect(files);
    assert.deepEqual(
      collected.files.map((file) => file.path),
      ['deep/er/small.bin', 'empty', 'large.bin'],
    );
    for (const [path, bytes] of files) {
      const digest = sha256(bytes);
      assert.equal(collected.files.find((file) => file.path === path)?.sha256, digest);
      const stored = await store.getBytes(store.record, recordKeys.cas(tenant, digest));
      assert.ok(stored?.equals(bytes), path);
    }
    assert.ok(collected.snapshot?.startsWith('sha256:'));
    for (const { path, size } of collected.files)
      assert.equal(size, files.find(([name]) => name === path)?.[1].length, path);
  });

  test('are put again if the same content lies there, so old that it may be collected', async () => {
    for (const size of [1000, 5 * 1024 * 1024]) {
      const bytes = randomBytes(size);
      const { tenant } = await collect([['one', bytes]]);
      const key = recordKeys.cas(tenant, sha256(bytes));
      await age(bed, store.record, dirname(key));
      assert.equal(youngEnough((await store.head(store.record, key))?.modified), false);
      await collect([['two', bytes]], wide, tenant);
      assert.equal(youngEnough((await store.head(store.record, key))?.modified), true, `${size} bytes`);
    }
  });

  test('leave no upload behind in the work bucket', async () => {
    const { tenant } = await collect([['large', randomBytes(9 * 1024 * 1024)]]);
    const left = await Array.fromAsync(store.list(store.work, `uploads/${tenant}/`));
    assert.deepEqual(left, []);
  });

  test('have the same snapshot for the same names and bytes, in any order', async () => {
    const files = [
      ['b', Buffer.from('2')],
      ['a', Buffer.from('1')],
    ] as const;
    const [one, other] = [await collect(files), await collect(files.toReversed())];
    assert.equal(one.collected.snapshot, other.collected.snapshot);
  });

  test('with names that cannot be represented are refused, and the rest is kept', async () => {
    const { collected } = await collect([
      ['good', Buffer.from('x')],
      ['../../etc/passwd', Buffer.from('x')],
      ['/etc/shadow', Buffer.from('x')],
      ['new\nline', Buffer.from('x')],
      [Buffer.from([0x66, 0xff]), Buffer.from('x')],
    ]);
    assert.deepEqual(
      collected.files.map((file) => file.path),
      ['good'],
    );
    assert.deepEqual(
      collected.refused.map((file) => file.path),
      ['../../etc/passwd', '/etc/shadow', 'new%0Aline', 'f%FF'],
    );
  });

  test('are refused when a file system may confuse their names', async () => {
    const { collected } = await collect([
      ['Report.csv', Buffer.from('1')],
      ['report.csv', Buffer.from('2')],
      ['caf\u00e9', Buffer.from('3')],
      ['cafe\u0301', Buffer.from('4')],
      ['fine', Buffer.from('5')],
    ]);
    assert.deepEqual(
      collected.files.map((file) => file.path),
      ['fine'],
    );
    assert.equal(collected.refused.length, 4);
  });

  test('past a limit are named and skipped, and those within it are kept', async () => {
    const many = await collect(
      [
        ['a', Buffer.from('1')],
        ['b', Buffer.from('2')],
        ['c', Buffer.from('3')],
      ],
      { ...wide, outputFiles: 2 },
    );
    assert.equal(many.collector.exceeded, 'outputFiles');
    assert.deepEqual(
      many.collected.files.map((file) => file.path),
      ['a', 'b'],
    );
    const big = await collect(
      [
        ['a', Buffer.alloc(600)],
        ['b', Buffer.alloc(600)],
        ['c', Buffer.alloc(300)],
      ],
      { ...wide, outputBytes: 1000 },
    );
    assert.equal(big.collector.exceeded, 'outputBytes');
    assert.deepEqual(
      big.collected.files.map((file) => file.path),
      ['a', 'c'],
    );
  });

  test('are not taken from a cell that sends more or less than it announced', async () => {
    const collector = new OutputCollector(
      { store, tenant: bed.tenant(), run: newRunId(), attempt: 1, room: openOutputRoom() },
      wide,
    );
    await assert.rejects(collector.take(Buffer.from('liar'), 10, inChunks(Buffer.alloc(9))), { code: 'stream_broken' });
    await collector.abandon();
  });

  test('that could not be read to the end are refused, and the rest is kept', async () => {
    async function* lost(bytes: Buffer): AsyncGenerator<Buffer> {
      yield bytes;
      throw new OutputLost('it could not be read to its end');
    }
    const collector = new OutputCollector(
      { store, tenant: bed.tenant(), run: newRunId(), attempt: 1, room: openOutputRoom() },
      wide,
    );
    await collector.take(Buffer.from('small'), 10, lost(Buffer.alloc(5)));
    await collector.take(Buffer.from('large'), 20 * 1024 * 1024, lost(Buffer.alloc(9 * 1024 * 1024)));
    await collector.take(Buffer.from('whole'), 3, inChunks(Buffer.from('yes')));
    const { files, refused } = await collector.finish();
    assert.deepEqual(
      files.map((file) => file.path),
      ['whole'],
    );
    assert.deepEqual(
      refused.map((file) => file.path),
      ['small', 'large'],
    );
  });

  test('are empty, without a snapshot, for a run that wrote none', async () => {
    const { collected } = await collect([]);
    assert.deepEqual(collected, { files: [], refused: [], snapshot: null });
  });
});
