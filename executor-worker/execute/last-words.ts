/** The end of a stream, in bounded memory. */
export class LastWords {
  readonly #most: number;
  #bytes = Buffer.alloc(0);

  constructor(mostBytes: number) {
    this.#most = mostBytes;
  }

  add(bytes: Buffer): void {
    // A copy: the chunk is a view of a buffer that the cell's reader reuses.
    this.#bytes = Buffer.concat([this.#bytes, bytes.subarray(-this.#most)]).subarray(-this.#most);
  }

  get text(): string {
    return this.#bytes.toString('utf8');
  }
}
