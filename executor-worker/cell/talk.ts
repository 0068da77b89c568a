import type { HostFrame } from '@hotcell/contract/frames.ts';
import type { CellFrame } from './frames/decode.ts';
import { HotcellError, messageOf } from '@hotcell/contract/errors.ts';
import type { Attached } from '@hotcell/outside/engine/engine.ts';
import { encodeFrame } from './frames/encode.ts';
import { FrameParser } from './frames/stream.ts';

const heldStderr = 2048;
const flushBytes = 64 * 1024;

/** The conversation with one cell's init: frames in both directions, at the pace of the slower side. */
export class Talk {
  readonly #attached: Attached;
  readonly #frames: AsyncGenerator<CellFrame>;
  readonly #parser = new FrameParser();
  #stderr = Buffer.alloc(0);
  /** Since when we wait for init's next bytes; undefined while we are busy with the last ones. */
  #listeningSince: number | undefined;

  constructor(attached: Attached) {
    this.#attached = attached;
    this.#frames = this.#parse();
  }

  /** Init's next frame; undefined if the stream has ended. */
  async next(): Promise<CellFrame | undefined> {
    const { value, done } = await this.#frames.next();
    return done ? undefined : value;
  }

  /** How long init has sent nothing although we listen. */
  silentMs(): number {
    return this.#listeningSince === undefined ? 0 : performance.now() - this.#listeningSince;
  }

  /** Init writes nothing there; a runtime that can't start it does. */
  get stderr(): string {
    return this.#stderr.toString('utf8').trim();
  }

  async send(frames: Iterable<HostFrame>): Promise<void> {
    let held: Buffer[] = [];
    let bytes = 0;
    for (const frame of frames) {
      if (frame.type === 'session') this.#parser.beginSession();
      const encoded = encodeFrame(frame);
      held.push(encoded);
      bytes += encoded.length;
      if (bytes < flushBytes) continue;
      await this.#write(Buffer.concat(held));
      held = [];
      bytes = 0;
    }
    if (bytes > 0) await this.#write(Buffer.concat(held));
  }

  close(): void {
    this.#attached.close();
  }

  async #write(bytes: Buffer): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#attached.input.write(bytes, (error) => {
        if (!error) return resolve();
        reject(new HotcellError('cell_failed', `The cell does not listen: ${messageOf(error)}`, { cause: error }));
      });
    });
  }

  async *#parse(): AsyncGenerator<CellFrame> {
    const parser = this.#parser;
    const pieces = this.#attached.output[Symbol.asyncIterator]();
    for (;;) {
      this.#listeningSince = performance.now();
      const { value, done } = await pieces.next();
      this.#listeningSince = undefined;
      if (done) break;
      if (value.stream === 'stdout') yield* parser.push(value.bytes);
      else if (this.#stderr.length < heldStderr) this.#stderr = Buffer.concat([this.#stderr, value.bytes]);
    }
    parser.end();
  }
}
