import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Digest, sha256 } from '@hotcell/contract/digest.ts';
import { sideBySide, type Versions } from '@hotcell/record/gc/grouped-versions.ts';
import fc from 'fast-check';

const digests = Array.from({ length: 8 }, (_, i) => sha256(String(i))).toSorted();

async function* listed(names: readonly Digest[], side: string): AsyncGenerator<Versions> {
  for (const name of names) {
    const version = { key: name, versionId: side, etag: '', size: 1, isLatest: true, isDeleteMarker: false };
    yield { name, versions: [{ ...version, modified: new Date(0) }] };
  }
}

test('two lists stand side by side by name, and nothing of either is lost', async () => {
  const some = fc.subarray(digests);
  await fc.assert(
    fc.asyncProperty(some, some, async (left, right) => {
      const rows = await Array.fromAsync(sideBySide(listed(left, 'left'), listed(right, 'right')));
      assert.deepEqual(
        rows.map(({ name }) => name),
        digests.filter((name) => left.includes(name) || right.includes(name)),
      );
      for (const { name, left: l, right: r } of rows) {
        assert.deepEqual(
          l.map((one) => `${one.key} ${one.versionId}`),
          left.includes(name) ? [`${name} left`] : [],
        );
        assert.deepEqual(
          r.map((one) => `${one.key} ${one.versionId}`),
          right.includes(name) ? [`${name} right`] : [],
        );
      }
    }),
  );
});
