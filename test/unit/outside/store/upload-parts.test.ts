import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inParts, PartBuffers } from '@hotcell/outside/store/upload-parts.ts';
import fc from 'fast-check';

async function* inChunks(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

test('a body comes whole, in parts of one size but the last, whatever pieces it is read in', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 5000 }),
      fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }),
      fc.integer({ min: 1, max: 900 }),
      async (bytes, sizes, partBytes) => {
        const parts: Buffer[] = [];
        for await (const part of inParts(inChunks(Buffer.from(bytes), sizes), new PartBuffers(partBytes))) {
          parts.push(Buffer.from(part.bytes));
          part.letGo();
        }
        assert.deepEqual(Buffer.concat(parts), Buffer.from(bytes));
        for (const part of parts.slice(0, -1)) assert.equal(part.length, partBytes);
        assert.ok(parts.every((part) => part.length > 0 && part.length <= partBytes));
      },
    ),
  );
});

test('a part keeps its bytes until it is let go, and no third part is filled meanwhile', async () => {
  const body = Buffer.from('aabbccd');
  const parts = inParts(inChunks(body, [1]), new PartBuffers(2));
  const [first, second] = [(await parts.next()).value, (await parts.next()).value];
  assert.ok(first && second);
  let third: string | undefined;
  const coming = parts.next().then(({ value }) => (third = value?.bytes.toString()));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([first.bytes.toString(), second.bytes.toString(), third], ['aa', 'bb', undefined]);
  first.letGo();
  await coming;
  assert.deepEqual([second.bytes.toString(), third], ['bb', 'cc']);
});

test('the next body reuses buffers, and two bodies at once never share one', async () => {
  const buffers = new PartBuffers(100_000);
  const used = async () => {
    const seen = new Set<ArrayBufferLike>();
    for await (const part of inParts(inChunks(Buffer.alloc(350_000, 1), [999]), buffers)) {
      seen.add(part.bytes.buffer);
      part.letGo();
    }
    return seen;
  };
  const first = await used();
  assert.ok((await used()).isSubsetOf(first));
  const [one, other] = await Promise.all([used(), used()]);
  assert.ok(one?.isDisjointFrom(other ?? new Set()));
});
