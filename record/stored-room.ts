import type { HotcellError } from '@hotcell/contract/errors.ts';
import { quotaExceeded } from '@hotcell/contract/quota-exceeded.ts';
import type { GrantedBytes, StoredBytes } from '@hotcell/outside/live/stored-bytes.ts';

/** A tenant without a quota is asked for once; one with a quota, once for so many bytes. */
const blockBytes = 8 * 1024 * 1024;

/**
 * What one piece of work stores of a tenant's contents, counted before it is stored: `quota_exceeded` if the tenant has
 * no room for it. Where the count does not answer, nothing is refused: the next measurement makes it right.
 */
export class StoredRoom {
  readonly #stored: StoredBytes | undefined;
  readonly #tenant: string;
  #isBounded = true;
  /** Taken, and not used yet. */
  #left = 0;
  /** Of it, a store may tell only that its source failed. */
  refusal: HotcellError | undefined;
  /** Used for what may turn out not to be stored. */
  #used = 0;
  /** What may be stored uncounted until the count is asked again: the tenant has a quota and was not measured yet. */
  #uncounted = 0;
  /** The measurement on top of which was taken. */
  #measurement: string | undefined;
  /** Part of what was taken is not in the count now. The room does not know which part, so it gives back nothing used. */
  #isMixed = false;

  constructor(stored: StoredBytes | undefined, tenant: string) {
    this.#stored = stored;
    this.#tenant = tenant;
  }

  async take(bytes: number): Promise<void> {
    if (!this.#stored || !this.#isBounded) return;
    while (this.#isBounded && this.#left < bytes && this.#uncounted < bytes)
      await this.#ask(this.#stored, bytes - this.#left);
    if (!this.#isBounded) return;
    if (this.#left < bytes) {
      this.#uncounted -= bytes;
      return;
    }
    this.#left -= bytes;
    if (!this.#isMixed) this.#used += bytes;
  }

  /** What was taken is stored. Gives back the rest. */
  async keep(): Promise<void> {
    this.#used = 0;
    await this.giveBack();
  }

  /** So many bytes are not stored: they were there before, or failed. Without a number, none of what was taken is. */
  async giveBack(bytes = this.#used): Promise<void> {
    const [used, left] = [Math.min(bytes, this.#used), this.#left];
    this.#used -= used;
    this.#left = 0;
    // Lost with Valkey, or measured again.
    if (used + left > 0 && this.#measurement !== undefined)
      await this.#stored?.giveBack(this.#tenant, used + left, this.#measurement).catch(() => undefined);
  }

  /** Puts that many bytes. False of it: they had been there. */
  async around(bytes: number, put: () => Promise<boolean>): Promise<void> {
    await this.take(bytes);
    try {
      if (!(await put())) return await this.giveBack();
    } catch (error) {
      await this.giveBack();
      throw error;
    }
    await this.keep();
  }

  async *counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      await this.take(chunk.length);
      yield chunk;
    }
  }

  async #ask(stored: StoredBytes, bytes: number): Promise<void> {
    const block = Math.max(bytes, blockBytes);
    const free: GrantedBytes = { granted: true, counted: 0, used: 0, limit: 0, measurement: '' };
    const whole = await stored.take(this.#tenant, block).catch(() => free);
    const exact = whole.granted || block === bytes ? whole : await stored.take(this.#tenant, bytes).catch(() => free);
    if (!exact.granted) {
      // Of what is used, a block is only held for what comes next here.
      const [used, needed] = [exact.used - this.#left, bytes + this.#left];
      this.refusal = quotaExceeded(this.#tenant, 'storedBytes', { limit: exact.limit, used, needed });
      throw this.refusal;
    }
    this.#isBounded = exact.limit > 0;
    if (exact.counted === 0) {
      this.#isMixed = true;
      // What was left of a count that is gone can't be used with this.
      this.#left = 0;
      this.#uncounted = block;
      return;
    }
    if (this.#measurement !== exact.measurement) this.#begin(exact.measurement);
    this.#left += exact.counted;
  }

  /** What was taken before is not in the count of another measurement. */
  #begin(measurement: string): void {
    this.#isMixed ||= this.#measurement !== undefined;
    this.#measurement = measurement;
    this.#left = 0;
    this.#used = 0;
  }
}

/** `quota_exceeded` for what the tenant has no room for now: before any of it is read. */
export async function proveRoom(stored: StoredBytes | undefined, tenant: string, bytes: number): Promise<void> {
  const room = new StoredRoom(stored, tenant);
  await room.take(bytes);
  await room.giveBack();
}
