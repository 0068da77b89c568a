import type { LogRow } from '@hotcell/contract/log-rows.ts';
import type { RunId } from '@hotcell/contract/names.ts';
import type { Live } from '@hotcell/outside/live/live.ts';
import type { Buckets } from '@hotcell/record/buckets.ts';
import { readSegment, segmentsAfter } from '@hotcell/record/run-logs.ts';
import { SharedReads } from '../follow/shared-reads.ts';

/** Rows read at once. */
export const mostRows = 500;
/** As often as a worker writes a segment. */
const forgottenMs = 5_000;

interface Listed {
  at: number;
  names: string[];
}

/** What followers of live logs read. Those of one run share each read, however many they are. */
export class TailReads {
  readonly #deps: { store: Buckets; live: Live };
  readonly #attempts = new SharedReads<number>();
  readonly #rows = new SharedReads<LogRow[]>();
  readonly #lists = new SharedReads<string[]>();
  readonly #segments = new SharedReads<LogRow[] | undefined>();
  /** The latest lists, the oldest first. */
  readonly #listed = new Map<string, Listed>();

  constructor(deps: { store: Buckets; live: Live }) {
    this.#deps = deps;
  }

  /** The attempt that goes on; 0 if none does. */
  attempt(run: RunId): Promise<number> {
    return this.#attempts.read(run, async () => (await this.#deps.live.statusesOf([run]))[0]?.attempt ?? 0);
  }

  rows(run: RunId, attempt: number, after: number): Promise<LogRow[]> {
    const read = () => this.#deps.live.logs.read(run, attempt, after, mostRows);
    return this.#rows.read(`${run}/${attempt}/${after}`, read);
  }

  /** The names of the next segments. They are listed once in this time for all who have read as far. */
  segments(run: RunId, attempt: number, after: string | undefined, everyMs: number): Promise<string[]> {
    const key = `${run}/${attempt}/${after ?? ''}`;
    const listed = this.#listed.get(key);
    if (listed && performance.now() - listed.at < everyMs) return Promise.resolve(listed.names);
    return this.#lists.read(key, async () => {
      const at = performance.now();
      const names = await segmentsAfter(this.#deps.store, run, attempt, after);
      this.#listed.delete(key);
      this.#listed.set(key, { at, names });
      for (const [old, { at: then }] of this.#listed) {
        if (at - then < forgottenMs) break;
        this.#listed.delete(old);
      }
      return names;
    });
  }

  segment(name: string): Promise<LogRow[] | undefined> {
    return this.#segments.read(name, () => readSegment(this.#deps.store, name));
  }
}
