import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { demux, type Piece } from '@hotcell/outside/engine/demux.ts';

function framed(pieces: readonly Piece[]): Buffer {
  return Buffer.concat(
    pieces.map(({ stream, bytes }) => {
      const header = Buffer.alloc(8);
      header[0] = stream === 'stdout' ? 1 : 2;
      header.writeUInt32BE(bytes.length, 4);
      return Buffer.concat([header, bytes]);
    }),
  );
}

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function joined(chunks: AsyncIterable<Buffer>): Promise<Record<'stdout' | 'stderr', Buffer>> {
  const streams = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  for await (const { stream, bytes } of demux(chunks)) streams[stream].push(Buffer.from(bytes));
  return { stdout: Buffer.concat(streams.stdout), stderr: Buffer.concat(streams.stderr) };
}

const piece = fc.record({
  stream: fc.constantFrom('stdout' as const, 'stderr' as const),
  bytes: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
});

describe('the engine’s stream', () => {
  test('is split the same way however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
        async (pieces, sizes) => {
          const { stdout, stderr } = await joined(cut(framed(pieces), sizes));
          const of = (stream: string) =>
            Buffer.concat(pieces.filter((one) => one.stream === stream).map(({ bytes }) => bytes));
          assert.deepEqual(stdout, of('stdout'));
          assert.deepEqual(stderr, of('stderr'));
        },
      ),
    );
  });
  test('is read at the reader’s pace, whatever length a piece claims', async () => {
    let asked = 0;
    const endless = async function* () {
      const header = Buffer.from([1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
      yield header;
      for (;;) {
        asked++;
        yield Buffer.alloc(1000);
      }
    };
    const pieces = demux(endless());
    for (let i = 0; i < 5; i++) assert.equal((await pieces.next()).value?.bytes.length, 1000);
    assert.equal(asked, 5);
    await pieces.return(undefined);
  });
  test('is an error, not output, if it is malformed', async () => {
    for (const header of ['0000000000000001', '0300000000000001', '0101000000000001', '7b2276223a317d0a'])
      await assert.rejects(joined(cut(Buffer.from(header, 'hex'), [8])), { code: 'stream_broken' });
  });
  test('may end anywhere', async () => {
    const bytes = framed([{ stream: 'stdout', bytes: Buffer.from('hello') }]);
    for (let end = 0; end < bytes.length; end++)
      assert.equal(
        (await joined(cut(bytes.subarray(0, end), [3]))).stdout.toString(),
        'hello'.slice(0, Math.max(0, end - 8)),
      );
  });
});
