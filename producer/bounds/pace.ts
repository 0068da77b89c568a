/**
 * Judges the other side of a connection by its speed: time that its bytes took beyond what they may take adds up, and
 * faster bytes make up for it. So neither a pause nor one slow moment counts as slow, and no early speed pays for a
 * standstill later.
 */
export class Pace {
  #bytesPerMs: number;
  readonly #patienceMs: number;
  #lateMs = 0;

  constructor({ bytesPerSecond, patienceMs }: { bytesPerSecond: number; patienceMs: number }) {
    this.#bytesPerMs = bytesPerSecond / 1000;
    this.#patienceMs = patienceMs;
  }

  /** From now on, when more is at stake. */
  raiseTo(bytesPerSecond: number): void {
    this.#bytesPerMs = bytesPerSecond / 1000;
  }

  /** Notes that these bytes came, or went, in this time of waiting for the other side. */
  moved(bytes: number, ms: number): void {
    this.#lateMs = Math.max(0, this.#lateMs + ms - bytes / this.#bytesPerMs);
  }

  /** How long we still wait for these bytes; nothing or less for a side that is too slow. */
  leftMs(pending = 0): number {
    return this.#patienceMs + pending / this.#bytesPerMs - this.#lateMs;
  }
}
