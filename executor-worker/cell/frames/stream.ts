import { cellFrameTypes, frameLimits, protocol } from '@hotcell/contract/frames.ts';
import { type CellFrame, decodeFrame } from './decode.ts';
import { FrameOrder } from './order.ts';
import { broken } from './reader.ts';

const header = protocol.headerBytes;
const none = Buffer.alloc(0);

/**
 * A cell's standard output as frames, whatever pieces it comes in. Between two pieces it holds at most one frame. Frames
 * that are whole in a piece, and all output data, are views of that piece: use them before it is reused. Anything wrong
 * throws `stream_broken`, and the parser takes nothing more.
 */
export class FrameParser {
  readonly #order = new FrameOrder();
  /** The unfinished frame: its header until that is whole, then a buffer for all of the frame. */
  #held = none;
  #heldLength = 0;
  /** What is still to come of an output's data frame that is handed on in parts. */
  #dataLeft = 0;
  #failed: unknown;

  push(piece: Buffer): CellFrame[] {
    if (this.#failed) throw this.#failed;
    const frames: CellFrame[] = [];
    try {
      for (let at = 0; at < piece.length; ) at = this.#step(piece, at, frames);
    } catch (error) {
      this.#failed = error;
      throw error;
    }
    return frames;
  }

  beginSession(): void {
    this.#order.beginSession();
  }

  /** The stream has ended. False if it ended before the last frame: the cell died. */
  end(): boolean {
    if (this.#failed) throw this.#failed;
    return this.#order.over;
  }

  #step(piece: Buffer, at: number, frames: CellFrame[]): number {
    if (this.#order.over) throw broken('bytes follow the last frame');
    if (this.#dataLeft > 0) return this.#data(piece, at, frames);
    if (this.#heldLength > 0) return this.#fill(piece, at, frames);
    if (piece.length - at < header) return this.#hold(piece, at, header);
    const length = payloadLength(piece, at);
    if (piece.readUInt8(at + 2) === cellFrameTypes.outputData) return this.#beginData(length, at + header);
    const end = at + header + length;
    if (end > piece.length) return this.#hold(piece, at, header + length);
    this.#emit(decodeFrame(piece.readUInt8(at + 2), piece.subarray(at + header, end)), frames);
    return end;
  }

  #emit(frame: CellFrame, frames: CellFrame[]): void {
    this.#order.check(frame);
    frames.push(frame);
  }

  #hold(piece: Buffer, at: number, room: number): number {
    // A new buffer each time: frames already handed out are views of the one before.
    this.#held = Buffer.allocUnsafe(room);
    this.#heldLength = piece.copy(this.#held, 0, at);
    return piece.length;
  }

  /** Goes on with the unfinished frame. Its buffer is as long as what is known to come: first the header, then all. */
  #fill(piece: Buffer, at: number, frames: CellFrame[]): number {
    const copied = piece.copy(this.#held, this.#heldLength, at);
    this.#heldLength += copied;
    if (this.#heldLength < this.#held.length) return at + copied;
    const held = this.#held;
    const length = payloadLength(held, 0);
    const type = held.readUInt8(2);
    this.#heldLength = 0;
    this.#held = none;
    if (type === cellFrameTypes.outputData) return this.#beginData(length, at + copied);
    if (held.length < header + length) {
      this.#held = Buffer.allocUnsafe(header + length);
      this.#heldLength = held.copy(this.#held);
    } else this.#emit(decodeFrame(type, held.subarray(header)), frames);
    return at + copied;
  }

  #beginData(length: number, at: number): number {
    if (length === 0 || length > frameLimits.chunkBytes) throw broken(`output data of ${length} bytes`);
    this.#dataLeft = length;
    return at;
  }

  #data(piece: Buffer, at: number, frames: CellFrame[]): number {
    const end = Math.min(piece.length, at + this.#dataLeft);
    this.#dataLeft -= end - at;
    this.#emit({ type: 'outputData', bytes: piece.subarray(at, end) }, frames);
    return end;
  }
}

function payloadLength(bytes: Buffer, at: number): number {
  if (bytes.readUInt8(at) !== protocol.magic || bytes.readUInt8(at + 3) !== 0)
    throw broken('it does not consist of frames');
  const version = bytes.readUInt8(at + 1);
  if (version !== protocol.version) throw broken(`it is of version ${version}, not ${protocol.version}`);
  const length = bytes.readUInt32LE(at + 4);
  if (length > frameLimits.payloadBytes)
    throw broken(`a frame of ${length} bytes, more than ${frameLimits.payloadBytes}`);
  return length;
}
