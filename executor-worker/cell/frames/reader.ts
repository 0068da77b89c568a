import { HotcellError } from '@hotcell/contract/errors.ts';

export function broken(what: string): HotcellError {
  return new HotcellError('stream_broken', `The cell's stream is broken: ${what}.`);
}

/** Init writes 2^64−1 for a number that the kernel does not report. */
const unknownHigh = 0xffff_ffff;

/** Reads a payload's fields in order; every length is checked before it is believed. */
export class Reader {
  readonly #bytes: Buffer;
  readonly #what: string;
  #at = 0;

  constructor(bytes: Buffer, what: string) {
    this.#bytes = bytes;
    this.#what = what;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  u16(): number {
    return this.#bytes.readUInt16LE(this.#take(2));
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#take(4));
  }

  /** As two halves: no number of this protocol needs a bigint. */
  #halves(): [high: number, low: number] {
    const at = this.#take(8);
    return [this.#bytes.readUInt32LE(at + 4), this.#bytes.readUInt32LE(at)];
  }

  u64(): number {
    const [high, low] = this.#halves();
    if (high > 0x1f_ffff) throw broken(`${this.#what} has a number above 2^53`);
    return high * 2 ** 32 + low;
  }

  known(): number | undefined {
    const [high, low] = this.#halves();
    if (high === unknownHigh && low === unknownHigh) return undefined;
    if (high > 0x1f_ffff) throw broken(`${this.#what} has a number above 2^53`);
    return high * 2 ** 32 + low;
  }

  size(): number | 'unlimited' {
    const [high, low] = this.#halves();
    return high > 0x1f_ffff ? 'unlimited' : high * 2 ** 32 + low;
  }

  mask(): string {
    return this.#halves()
      .map((half) => half.toString(16).padStart(8, '0'))
      .join('');
  }

  bytes(length: number): Buffer {
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  str(most: number): Buffer {
    const length = this.u16();
    if (length > most) throw broken(`${this.#what} has a text of ${length} bytes, more than ${most}`);
    return this.bytes(length);
  }

  rest(most: number): Buffer {
    const left = this.#bytes.length - this.#at;
    if (left === 0 || left > most) throw broken(`${this.#what} carries ${left} bytes instead of 1 to ${most}`);
    return this.bytes(left);
  }

  /** The rest, which may be empty. */
  most(bytes: number): Buffer {
    const left = this.#bytes.length - this.#at;
    if (left > bytes) throw broken(`${this.#what} carries ${left} bytes, more than ${bytes}`);
    return this.bytes(left);
  }

  end(): void {
    const left = this.#bytes.length - this.#at;
    if (left !== 0) throw broken(`${this.#what} has ${left} bytes too many`);
  }

  #take(length: number): number {
    const at = this.#at;
    if (length > this.#bytes.length - at) throw broken(`${this.#what} is too short`);
    this.#at = at + length;
    return at;
  }
}

/** The name of a number in one of the contract's tables. */
export function nameIn<T extends string>(table: Readonly<Record<T, number>>, value: number, what: string): T {
  for (const name in table) if (table[name] === value) return name;
  throw broken(`${what} ${value} does not exist`);
}
