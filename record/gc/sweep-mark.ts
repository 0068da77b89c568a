import { HotcellError } from '@hotcell/contract/errors.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import type { Buckets } from '../buckets.ts';
import { workKeys } from '../layout.ts';
import { objects } from '../objects.ts';
import { readStored, swap } from '../read-write.ts';

/** For this long a collector that died holds up the next one, and freezes rely on nothing old. */
const goodForMs = 10 * 60 * 1000;

/** The collector says that it is at work before it looks for freezes. It renews this before everything it removes. */
export class Sweeping {
  readonly #store: Buckets;
  #etag: string;
  #ours = true;

  private constructor(store: Buckets, etag: string) {
    this.#store = store;
    this.#etag = etag;
  }

  static async begin(store: Buckets): Promise<Sweeping> {
    const there = await readStored(store, objects.sweeping);
    if (there && Date.parse(there.value.until) > Date.now())
      throw new HotcellError(
        'conflict',
        `Garbage has been collected since ${there.value.at}. If that collector died, try again after ${there.value.until}.`,
      );
    return new Sweeping(store, await mark(store, there));
  }

  async renew(): Promise<void> {
    this.#ours = false;
    this.#etag = await mark(this.#store, { etag: this.#etag });
    this.#ours = true;
  }

  async end(): Promise<void> {
    // After a renewal that failed, the mark may be another collector's.
    if (this.#ours) await this.#store.delete(this.#store.work, workKeys.sweeping);
  }
}

/** Whether a collector is at work. */
export async function isSweeping(store: Buckets, now: Date): Promise<boolean> {
  const there = await readStored(store, objects.sweeping);
  return there !== undefined && Date.parse(there.value.until) > now.getTime();
}

async function mark(store: Buckets, before: { etag: string } | undefined): Promise<string> {
  const now = Date.now();
  const [at, until] = [now, now + goodForMs].map((ms) => new Date(ms).toISOString()) as [string, string];
  try {
    return await swap(store, objects.sweeping, { version: 1, at, until }, before);
  } catch (error) {
    if (!(error instanceof PreconditionFailed)) throw error;
    throw new HotcellError('conflict', 'Another collector has begun. Let it end, then try again.', { cause: error });
  }
}
