import { hash, randomBytes } from 'node:crypto';

const bits = 2 ** 28;

/**
 * A set of digests that takes 32 MiB, however many are in it (decision 0080). It never denies what was added. Of others
 * it claims a few by chance: their garbage is kept this time, and since the salt differs, goes the next.
 */
export class DigestFilter {
  readonly #bytes = new Uint8Array(bits / 8);
  readonly #salt = randomBytes(16).toString('hex');

  add(name: string): void {
    for (const bit of this.#bitsOf(name)) {
      const at = bit >>> 3;
      this.#bytes[at] = (this.#bytes[at] ?? 0) | (1 << (bit & 7));
    }
  }

  has(name: string): boolean {
    return this.#bitsOf(name).every((bit) => ((this.#bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0);
  }

  /** Salted: a tenant can't choose digests that look like another's. */
  #bitsOf(name: string): number[] {
    const mixed = hash('sha256', this.#salt + name, 'buffer');
    return [0, 4, 8, 12].map((offset) => mixed.readUInt32LE(offset) % bits);
  }
}
