import { HotcellError } from '@hotcell/contract/errors.ts';

/** One piece of a container's output, as the engine's attach stream carries it: pieces of two streams, in order. */
export interface Piece {
  stream: 'stdout' | 'stderr';
  bytes: Buffer;
}

const headerBytes = 8;

/**
 * Split the engine's multiplexed stream, at the reader's pace: the socket is read again only once the last piece was
 * taken, and a piece is a view into what arrived, however long the engine says it is. So neither a flood nor a false
 * length can make memory grow. A stream that ends inside a piece just ends: the reader of the frames notices that a
 * container was killed in the middle of a write.
 */
export async function* demux(chunks: AsyncIterable<Buffer>): AsyncGenerator<Piece> {
  const header = Buffer.alloc(headerBytes);
  let inHeader = 0;
  let left = 0;
  let stream: Piece['stream'] = 'stdout';
  for await (const chunk of chunks) {
    let at = 0;
    while (at < chunk.length) {
      if (left > 0) {
        const bytes = chunk.subarray(at, at + left);
        at += bytes.length;
        left -= bytes.length;
        yield { stream, bytes };
        continue;
      }
      const taken = chunk.copy(header, inHeader, at, at + headerBytes - inHeader);
      at += taken;
      inHeader += taken;
      if (inHeader < headerBytes) continue;
      inHeader = 0;
      stream = streamOf(header);
      left = header.readUInt32BE(4);
    }
  }
}

function streamOf(header: Buffer): Piece['stream'] {
  const [kind, ...zeros] = header.subarray(0, 4);
  if ((kind === 1 || kind === 2) && zeros.every((byte) => byte === 0)) return kind === 1 ? 'stdout' : 'stderr';
  throw new HotcellError(
    'stream_broken',
    `The engine's attach stream is malformed: a piece begins with ${header.toString('hex')}.`,
  );
}
