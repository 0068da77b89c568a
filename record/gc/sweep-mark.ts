import { HotcellError } from '@hotcell/contract/errors.ts';
import { workKeys } from '../layout.ts';
import { SweepMark } from '../schemas.ts';
import { PreconditionFailed } from '@hotcell/outside/store/store-errors.ts';
import type { Buckets } from '../buckets.ts';

/** So long a collector that died holds up the next one, and freezes take nothing old for granted. */
const goodForMs = 10 * 60 * 1000;

/** The collector says that it is at work, before it looks who else is. Renewed before everything it removes. */
export class Sweeping {
  readonly #store: Buckets;
  #etag: string;
  #ours = true;

  private constructor(store: Buckets, etag: string) {
    this.#store = store;
    this.#etag = etag;
  }

  static async begin(store: Buckets): Promise<Sweeping> {
    const there = await store.get(store.work, workKeys.sweeping);
    const mark = there && SweepMark.parse(JSON.parse(Buffer.concat(await there.body.toArray()).toString('utf8')));
    if (mark && Date.parse(mark.until) > Date.now())
      throw new HotcellError(
        'conflict',
        `garbage is being collected since ${mark.at}; if that collector died, try again after ${mark.until}`,
      );
    return new Sweeping(store, await put(store, there ? { ifMatch: there.etag } : { ifAbsent: true }));
  }

  async renew(): Promise<void> {
    this.#ours = false;
    this.#etag = await put(this.#store, { ifMatch: this.#etag });
    this.#ours = true;
  }

  async end(): Promise<void> {
    // If it could not be renewed it may be another's by now.
    if (this.#ours) await this.#store.delete(this.#store.work, workKeys.sweeping);
  }
}

async function put(store: Buckets, condition: { ifMatch: string } | { ifAbsent: true }): Promise<string> {
  const now = Date.now();
  const mark: SweepMark = {
    version: 1,
    at: new Date(now).toISOString(),
    until: new Date(now + goodForMs).toISOString(),
  };
  try {
    return (await store.put(store.work, workKeys.sweeping, JSON.stringify(mark), condition)).etag;
  } catch (error) {
    if (!(error instanceof PreconditionFailed)) throw error;
    throw new HotcellError('conflict', 'another collector has begun: let it end, then try again', { cause: error });
  }
}
