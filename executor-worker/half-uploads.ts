import { attemptOf } from '@hotcell/record/layout.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';

interface Found {
  bucket: string;
  key: string;
  /** The id of a half upload; a whole output that waits for its digest has none. */
  upload: string | undefined;
}

/**
 * Removes what dead attempts left in the store: parts of logs and outputs, and outputs that waited for their digest. It
 * looks only if a worker may have died: at the start, and after one went missing.
 */
export class HalfUploads {
  readonly #store: Buckets;
  readonly #live: Pick<Live, 'statusesOf'>;
  /** A heartbeat takes seconds to expire, and a suspect must be found twice: hence a few rounds. */
  #rounds = 0;
  #suspects: ReadonlySet<string> = new Set();

  constructor(store: Buckets, live: Pick<Live, 'statusesOf'>) {
    this.#store = store;
    this.#live = live;
  }

  /** A worker may have died. */
  suspect(): void {
    this.#rounds = 4;
  }

  async sweep(): Promise<void> {
    if (this.#rounds === 0) return;
    const found = await this.#found();
    const beats = await this.#live.statusesOf(found.map(({ run }) => run));
    const dead = found.filter(({ attempt }, i) => beats[i]?.attempt !== attempt);
    for (const one of dead) if (this.#suspects.has(nameOf(one))) await this.#remove(one);
    this.#suspects = new Set(dead.map(nameOf));
    this.#rounds--;
  }

  async #found(): Promise<(Found & NonNullable<ReturnType<typeof attemptOf>>)[]> {
    const store = this.#store;
    const found: Found[] = [];
    for (const bucket of [store.record, store.work])
      for (const { key, id } of await store.halfUploads(bucket)) found.push({ bucket, key, upload: id });
    for await (const { key } of store.list(store.work, 'uploads/'))
      found.push({ bucket: store.work, key, upload: undefined });
    return found.flatMap((one) => {
      const whose = attemptOf(one.key);
      return whose ? [{ ...one, ...whose }] : [];
    });
  }

  async #remove({ bucket, key, upload }: Found): Promise<void> {
    if (upload === undefined) await this.#store.delete(bucket, key);
    else await this.#store.abortUpload(bucket, key, upload);
  }
}

const nameOf = ({ bucket, key, upload = '' }: Found) => `${bucket} ${key} ${upload}`;
