/** One part of a body. Its buffer is used again as soon as it is let go. */
export interface Part {
  bytes: Buffer;
  letGo(): void;
}

const firstBytes = 64 * 1024;

/**
 * A body in parts of one size, in two buffers that take turns: while one part is sent, the next is filled, and nothing is
 * thrown away that would have to be collected as garbage. Short bodies take little: buffers grow as they are filled.
 */
export async function* inParts(chunks: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Part> {
  const free: Buffer[] = [Buffer.alloc(0), Buffer.alloc(0)];
  let wake: (() => void) | undefined;
  const take = async (): Promise<Buffer> => {
    for (;;) {
      const buffer = free.shift();
      if (buffer) return buffer;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  const partOf = (whole: Buffer, bytes: number): Part => ({
    bytes: whole.subarray(0, bytes),
    letGo() {
      free.push(whole);
      wake?.();
    },
  });
  let buffer = await take();
  let filled = 0;
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; ) {
      if (filled === partBytes) {
        yield partOf(buffer, filled);
        buffer = await take();
        filled = 0;
      }
      if (filled === buffer.length) buffer = grown(buffer, partBytes);
      const piece = chunk.subarray(from, from + buffer.length - filled);
      buffer.set(piece, filled);
      filled += piece.length;
      from += piece.length;
    }
  }
  if (filled > 0) yield partOf(buffer, filled);
}

function grown(buffer: Buffer, partBytes: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.min(partBytes, Math.max(firstBytes, 2 * buffer.length)));
  buffer.copy(larger);
  return larger;
}
