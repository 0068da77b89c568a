import { HotcellError } from '@hotcell/contract/errors.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import type { Buckets } from '../buckets.ts';
import { workKeys } from '../layout.ts';
import { objects } from '../objects.ts';
import { readMark, readStored, swap } from '../read-write.ts';

/** For this long a collector that died holds up the next one, and freezes rely on nothing old. */
const goodForMs = 10 * 60 * 1000;
/** A collector that did not renew for so long stops: a freeze whose clock is ahead may take the mark for lapsed. */
const lapsesMs = goodForMs / 2;
const renewMs = 60 * 1000;

/** The one that may be set, and the one that stops while the machine sleeps: whichever went further counts. */
const bothClocks = [() => Date.now(), () => performance.now()] as const;
type Clocks = readonly (() => number)[];

/** Another collector has begun, or a freeze may have relied on what this one was about to remove. */
export class SweepLost extends HotcellError {}

/** The collector says that it is at work before it looks for freezes. It keeps this up for as long as it works. */
export class Sweeping {
  readonly #store: Buckets;
  readonly #clocks: Clocks;
  #renewedAt: readonly number[];
  #etag: string;
  #ours = true;
  #renewing: Promise<void> | undefined;

  private constructor(store: Buckets, clocks: Clocks, renewedAt: readonly number[], etag: string) {
    this.#store = store;
    this.#clocks = clocks;
    this.#renewedAt = renewedAt;
    this.#etag = etag;
  }

  static async begin(store: Buckets, clocks: Clocks = bothClocks): Promise<Sweeping> {
    const there = await readStored(store, objects.sweeping);
    if (there && Date.parse(there.value.until) > Date.now())
      throw new HotcellError(
        'conflict',
        `Garbage has been collected since ${there.value.at}. If that collector died, try again after ${there.value.until}.`,
      );
    const now = clocks.map((clock) => clock());
    return new Sweeping(store, clocks, now, await mark(store, there));
  }

  /** Between all steps. Once the mark was lost, every step fails. */
  async keep(): Promise<void> {
    // Many steps go on at once: while one renews the mark, it is no other collector's.
    if (this.#renewing) await this.#renewing;
    const age = Math.max(...this.#clocks.map((clock, i) => clock() - (this.#renewedAt[i] ?? 0)));
    if (!this.#ours || age > lapsesMs) {
      this.#ours = false;
      throw new SweepLost(
        'conflict',
        'The collector could not say in time that it is still at work, so a freeze may rely on what it was about to remove. It stops here. Collect again.',
      );
    }
    if (age < renewMs) return;
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
  }

  async #renew(): Promise<void> {
    this.#ours = false;
    const now = this.#clocks.map((clock) => clock());
    this.#etag = await mark(this.#store, { etag: this.#etag });
    this.#renewedAt = now;
    this.#ours = true;
  }

  async end(): Promise<void> {
    // After a renewal that failed, the mark may be another collector's.
    if (this.#ours) await this.#store.delete(this.#store.work, workKeys.sweeping);
  }
}

/** Whether a collector is at work. One whose mark cannot be read may be. */
export async function isSweeping(store: Buckets, now: Date): Promise<boolean> {
  const instead = ({ modified }: { modified: Date }) => ({
    version: 1 as const,
    at: modified.toISOString(),
    until: new Date(modified.getTime() + goodForMs).toISOString(),
  });
  const there = await readMark(store, objects.sweeping, instead);
  return there !== undefined && Date.parse(there.until) > now.getTime();
}

async function mark(store: Buckets, before: { etag: string } | undefined): Promise<string> {
  const now = Date.now();
  const [at, until] = [now, now + goodForMs].map((ms) => new Date(ms).toISOString()) as [string, string];
  try {
    return await swap(store, objects.sweeping, { version: 1, at, until }, before);
  } catch (error) {
    if (!(error instanceof PreconditionFailed)) throw error;
    throw new SweepLost('conflict', 'Another collector has begun. Let it end, then try again.', { cause: error });
  }
}
