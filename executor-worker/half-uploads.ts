import type { Live } from '@hotcell/outside/live/live.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { unfinishedOfAttempts } from '@hotcell/record/unfinished-uploads.ts';

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
    const found = await unfinishedOfAttempts(this.#store);
    const beats = await this.#live.statusesOf(found.map(({ run }) => run));
    const dead = found.filter(({ attempt }, i) => beats[i]?.attempt !== attempt);
    for (const { name, remove } of dead) if (this.#suspects.has(name)) await remove();
    this.#suspects = new Set(dead.map(({ name }) => name));
    this.#rounds--;
  }
}
