/** One part of a body. Its buffer is reused as soon as it is let go. */
export interface BodyPart {
  bytes: Buffer;
  letGo: () => void;
}

const smallBytes = 64 * 1024;

/** Whole buffers for reuse, so that sent parts do not pile up as garbage. It keeps a few. */
export class PartBuffers {
  readonly bytes: number;
  readonly #kept: Buffer[] = [];

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  /** A larger buffer with the same content: small bodies take little memory. */
  larger(than: Buffer): Buffer {
    const larger =
      than.length < Math.min(smallBytes, this.bytes)
        ? Buffer.allocUnsafeSlow(Math.min(smallBytes, this.bytes))
        : (this.#kept.pop() ?? Buffer.allocUnsafeSlow(this.bytes));
    than.copy(larger);
    return larger;
  }

  letGo(buffer: Buffer): void {
    if (buffer.length === this.bytes && this.#kept.length < 4) this.#kept.push(buffer);
  }
}

/**
 * A body in parts of one size, in two buffers that take turns: while one part is sent the next is filled, and no third
 * is begun.
 */
export async function* inParts(chunks: AsyncIterable<Uint8Array>, buffers: PartBuffers): AsyncGenerator<BodyPart> {
  const none = Buffer.alloc(0);
  const free: Buffer[] = [none];
  let buffer: Buffer = none;
  let wake: (() => void) | undefined;
  let isOver = false;
  const letGo = (one: Buffer) => {
    if (isOver) return buffers.letGo(one);
    free.push(one);
    wake?.();
  };
  const take = async (): Promise<Buffer> => {
    for (;;) {
      const next = free.shift();
      if (next) return next;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  const filledPart = (bytes: number): BodyPart => {
    const whole = buffer;
    buffer = none;
    return { bytes: whole.subarray(0, bytes), letGo: () => letGo(whole) };
  };
  try {
    let filled = 0;
    for await (const chunk of chunks) {
      for (let from = 0; from < chunk.length; ) {
        if (filled === buffers.bytes) {
          yield filledPart(filled);
          buffer = await take();
          filled = 0;
        }
        if (filled === buffer.length) buffer = buffers.larger(buffer);
        const piece = chunk.subarray(from, from + buffer.length - filled);
        buffer.set(piece, filled);
        filled += piece.length;
        from += piece.length;
      }
    }
    if (filled > 0) yield filledPart(filled);
  } finally {
    isOver = true;
    for (const one of [buffer, ...free]) buffers.letGo(one);
  }
}
